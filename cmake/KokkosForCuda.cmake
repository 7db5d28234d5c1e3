# find_kokkos_for_cuda(): gives Kokkos::kokkos to the module for CUDA devices (modules/cuda). It is
# another Kokkos than the program's: static, and compiled by nvcc as CMake's language CUDA. One that
# is installed so is taken from SPILLWAY_KOKKOS_CUDA_ROOT; else it is built here, of the sources in
# FETCHCONTENT_SOURCE_DIR_KOKKOS, of the pinned release where it can be reached, or else of the same
# release within the sources of a Python package.
include(FetchContent)
include(Kokkos)
set(kokkos_package pygenten==0.1.5)
set(kokkos_package_sha256 e620f05c742905e2db705d875f1cac92ef0ed453f9e6734e9beda26cc0f9cce7)

# Unpacks Kokkos, and nothing else, from the package's sources. `folder` is empty if that fails.
function(unpack_kokkos_package folder)
  set(${folder} "" PARENT_SCOPE)
  set(sources ${kokkos_deps}/kokkos-sources)
  if(NOT EXISTS ${sources})
    set(new ${sources}.new)
    file(REMOVE_RECURSE ${new})
    file(WRITE ${new}/requirements.txt
      "${kokkos_package} --hash=sha256:${kokkos_package_sha256}\n")
    find_program(SPILLWAY_PYTHON python3)
    execute_process(
      COMMAND ${SPILLWAY_PYTHON} -m pip download --quiet --no-deps --dest ${new}
        --no-binary pygenten --requirement ${new}/requirements.txt
      RESULT_VARIABLE failed ERROR_VARIABLE trouble OUTPUT_QUIET)
    if(failed)
      string(REGEX MATCH "ERROR[^\n]*" line "${trouble}${failed}")
      message(STATUS "pip download ${kokkos_package}: ${line}")
      return()
    endif()
    file(GLOB archive ${new}/*.tar.gz)
    file(ARCHIVE_EXTRACT INPUT ${archive} DESTINATION ${new} PATTERNS */tpls/kokkos/*)
    file(GLOB kokkos ${new}/*/tpls/kokkos)
    file(RENAME ${kokkos} ${sources})
    file(REMOVE_RECURSE ${new})
  endif()
  set(${folder} ${sources} PARENT_SCOPE)
endfunction()

# Kokkos' name of the oldest architecture that is compiled for, or of the newest before it that has
# one. It decides few constants.
set(kokkos_gpus AMPERE80 AMPERE86 AMPERE87 ADA89 HOPPER90 BLACKWELL100 BLACKWELL120)
function(kokkos_gpu result)
  string(REGEX MATCH "[0-9]+" oldest "${CMAKE_CUDA_ARCHITECTURES}")
  foreach(gpu IN LISTS kokkos_gpus)
    string(REGEX MATCH "[0-9]+" number ${gpu})
    if(number LESS_EQUAL oldest)
      set(${result} ${gpu} PARENT_SCOPE)
    endif()
  endforeach()
endfunction()

macro(build_kokkos_for_cuda)
  # Kokkos takes one, and the folder may have been configured for another.
  kokkos_gpu(compiled_for)
  foreach(gpu IN LISTS kokkos_gpus)
    set(Kokkos_ARCH_${gpu} OFF CACHE BOOL "" FORCE)
  endforeach()
  set(Kokkos_ARCH_${compiled_for} ON CACHE BOOL "" FORCE)
  set(Kokkos_ENABLE_CUDA ON CACHE BOOL "" FORCE)
  set(Kokkos_ENABLE_SERIAL ON CACHE BOOL "" FORCE)
  set(Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE ON CACHE BOOL "" FORCE)
  # Asynchronous allocations would come with a fence.
  set(Kokkos_ENABLE_IMPL_CUDA_MALLOC_ASYNC OFF CACHE BOOL "" FORCE)
  set(BUILD_SHARED_LIBS OFF)
  set(before "${CMAKE_CUDA_FLAGS}")
  string(APPEND CMAKE_CUDA_FLAGS " -include=${CMAKE_CURRENT_SOURCE_DIR}/cuda13.h")
  FetchContent_Declare(Kokkos ${kokkos_archive} DOWNLOAD_EXTRACT_TIMESTAMP TRUE)
  FetchContent_MakeAvailable(Kokkos)
  set(CMAKE_CUDA_FLAGS "${before}")
  foreach(target kokkoscore kokkoscontainers kokkosalgorithms kokkossimd kokkos)
    set_target_properties(${target} PROPERTIES SYSTEM TRUE)
  endforeach()
endmacro()

macro(find_kokkos_for_cuda)
  if(SPILLWAY_KOKKOS_CUDA_ROOT)
    find_package(Kokkos ${kokkos_oldest} REQUIRED NO_DEFAULT_PATH
      PATHS ${SPILLWAY_KOKKOS_CUDA_ROOT})
    if(NOT CUDA IN_LIST Kokkos_DEVICES)
      message(FATAL_ERROR "SPILLWAY_KOKKOS_CUDA_ROOT: ${Kokkos_DIR} is a Kokkos without CUDA")
    endif()
  else()
    set(kokkos_reached ${FETCHCONTENT_SOURCE_DIR_KOKKOS})
    if(NOT kokkos_reached)
      download_kokkos(kokkos_reached)
      set(kokkos_archive URL ${kokkos_deps}/kokkos-4.7.00.tar.gz URL_HASH SHA256=${kokkos_sha256})
    endif()
    if(NOT kokkos_reached)
      unpack_kokkos_package(FETCHCONTENT_SOURCE_DIR_KOKKOS)
      set(kokkos_reached ${FETCHCONTENT_SOURCE_DIR_KOKKOS})
    endif()
    if(NOT kokkos_reached)
      message(FATAL_ERROR "no Kokkos for CUDA: set SPILLWAY_KOKKOS_CUDA_SOURCE to the sources of "
        "Kokkos 4.7, or SPILLWAY_KOKKOS_CUDA_ROOT to a static build of them with "
        "Kokkos_ENABLE_CUDA and Kokkos_ENABLE_COMPILE_AS_CMAKE_LANGUAGE")
    endif()
    build_kokkos_for_cuda()
  endif()
endmacro()
