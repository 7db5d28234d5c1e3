# find_kokkos(): sets Kokkos_FOUND. An installed Kokkos (Kokkos_ROOT, a module, Spack) wins; else
# the pinned official release where it can be reached; else, on x86 CPUs, the prebuilt OpenMP tree
# that a Python wheel carries. What was fetched stays under _deps: later configures need no network.
# FETCHCONTENT_SOURCE_DIR_KOKKOS, being an explicit wish, comes before all. Where nothing is found,
# `kokkos_trouble` says what was tried last.
set(kokkos_oldest 4.5)
set(kokkos_url https://github.com/kokkos/kokkos/releases/download/4.7.00/kokkos-4.7.00.tar.gz)
set(kokkos_sha256 126b774a24dde8c1085c4aede7564c0b7492d6a07d85380f2b387a712cea1ff5)
set(kokkos_wheel pygenten==0.1.5)
set(kokkos_wheel_sha256 01bb48a183b6f54c7691acef80fd04c190641311c7c7a55f63c1c6a9897173de)
if(NOT kokkos_deps)
  set(kokkos_deps ${PROJECT_BINARY_DIR}/_deps)
endif()
set(kokkos_tree ${kokkos_deps}/kokkos-wheel)

# Sets `ok` if the release's archive lies under _deps. FetchContent would end the configure where
# there is no network, so the archive is fetched first, with a short limit.
function(download_kokkos ok)
  set(archive ${kokkos_deps}/kokkos-4.7.00.tar.gz)
  if(NOT EXISTS ${archive})
    file(DOWNLOAD ${kokkos_url} ${archive}.part TIMEOUT 30 STATUS status)
    list(GET status 0 failed)
    if(NOT failed)
      file(RENAME ${archive}.part ${archive})
    endif()
    file(REMOVE ${archive}.part)
  endif()
  if(EXISTS ${archive})
    file(SHA256 ${archive} sha256)
    if(NOT sha256 STREQUAL kokkos_sha256)
      message(FATAL_ERROR "${archive}: not the pinned release; remove it and configure again")
    endif()
    set(${ok} TRUE PARENT_SCOPE)
  endif()
endfunction()

# Builds the release as a part of this project.
macro(build_kokkos)
  include(FetchContent)
  if(NOT FETCHCONTENT_SOURCE_DIR_KOKKOS)
    set(kokkos_archive URL ${kokkos_deps}/kokkos-4.7.00.tar.gz URL_HASH SHA256=${kokkos_sha256})
  endif()
  option(Kokkos_ENABLE_SERIAL "" ON)
  option(Kokkos_ENABLE_OPENMP "" ON)
  option(Kokkos_ARCH_NATIVE "" ${SPILLWAY_NATIVE})
  FetchContent_Declare(Kokkos ${kokkos_archive} DOWNLOAD_EXTRACT_TIMESTAMP TRUE)
  FetchContent_MakeAvailable(Kokkos)
  foreach(target kokkoscore kokkoscontainers kokkosalgorithms kokkossimd kokkos)
    set_target_properties(${target} PROPERTIES SYSTEM TRUE)
  endforeach()
  get_directory_property(Kokkos_VERSION DIRECTORY ${kokkos_SOURCE_DIR} DEFINITION Kokkos_VERSION)
  get_directory_property(Kokkos_DEVICES
    DIRECTORY ${kokkos_SOURCE_DIR} DEFINITION KOKKOS_ENABLED_DEVICES)
  set(Kokkos_FOUND TRUE)
endmacro()

# Unpacks Kokkos, and nothing else, from the wheel. The name of its private OpenMP runtime is made
# to mean the system's, beside the libraries where binaries look too: two runtimes in one process
# would each start their own threads.
function(unpack_kokkos_wheel)
  set(new ${kokkos_tree}.new)
  file(REMOVE_RECURSE ${new})
  file(WRITE ${new}/requirements.txt "${kokkos_wheel} --hash=sha256:${kokkos_wheel_sha256}\n")
  find_program(SPILLWAY_PYTHON python3)
  execute_process(
    COMMAND ${SPILLWAY_PYTHON} -m pip download --quiet --no-deps --require-hashes --dest ${new}
      --only-binary :all: --implementation cp --python-version 3.11 --abi cp311
      --platform manylinux_2_28_x86_64 --requirement ${new}/requirements.txt
    RESULT_VARIABLE failed ERROR_VARIABLE trouble OUTPUT_QUIET)
  if(failed)
    string(REGEX MATCH "ERROR[^\n]*" line "${trouble}${failed}")
    set(kokkos_trouble "pip download ${kokkos_wheel}: ${line}" PARENT_SCOPE)
    return()
  endif()
  file(GLOB wheel ${new}/*.whl)
  file(ARCHIVE_EXTRACT INPUT ${wheel} DESTINATION ${new} PATTERNS
    pygenten/include/kokkos/* pygenten/lib64/libkokkos* pygenten/lib64/cmake/Kokkos/*
    pygenten.libs/libgomp*)
  file(REMOVE ${wheel} ${new}/pygenten/lib64/libkokkoskernels.so)
  file(GLOB private_openmp RELATIVE ${new}/pygenten.libs ${new}/pygenten.libs/libgomp*)
  file(REMOVE_RECURSE ${new}/pygenten.libs)
  list(GET OpenMP_CXX_LIB_NAMES 0 openmp)
  file(REAL_PATH ${OpenMP_${openmp}_LIBRARY} openmp)
  file(CREATE_LINK ${openmp} ${new}/pygenten/lib64/${private_openmp} SYMBOLIC)
  file(RENAME ${new} ${kokkos_tree})
endfunction()

# Libraries of the wheel that an installed binary needs beside it.
function(install_kokkos_wheel)
  file(GLOB libraries ${kokkos_tree}/pygenten/lib64/*.so.*)
  install(FILES ${libraries} DESTINATION ${CMAKE_INSTALL_LIBDIR})
endfunction()

macro(find_kokkos)
  set(kokkos_trouble)
  if(NOT FETCHCONTENT_SOURCE_DIR_KOKKOS)
    find_package(Kokkos ${kokkos_oldest} QUIET)
  endif()
  if(NOT Kokkos_FOUND AND NOT EXISTS ${kokkos_tree})
    set(kokkos_reached ${FETCHCONTENT_SOURCE_DIR_KOKKOS})
    if(NOT kokkos_reached)
      download_kokkos(kokkos_reached)
    endif()
    if(kokkos_reached)
      build_kokkos()
    elseif(CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64
           AND NOT Kokkos_ENABLE_CUDA AND NOT Kokkos_ENABLE_HIP)
      find_package(OpenMP QUIET COMPONENTS CXX)
      unpack_kokkos_wheel()
    endif()
  endif()
  if(NOT Kokkos_FOUND AND EXISTS ${kokkos_tree})
    find_package(Kokkos ${kokkos_oldest} QUIET NO_DEFAULT_PATH
      PATHS ${kokkos_tree}/pygenten/lib64/cmake/Kokkos)
  endif()
  string(REPLACE Kokkos_DIR-NOTFOUND "" kokkos_place "${Kokkos_DIR}${kokkos_SOURCE_DIR}")
  message(STATUS "Kokkos: ${Kokkos_VERSION} ${kokkos_place}")
endmacro()
