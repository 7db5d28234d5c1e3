# The module for CUDA devices is a project of its own (modules/cuda), built beside this one where
# SPILLWAY_CUDA asks for it. The program finds it by its place from the program's folder on, in the
# build as where both are installed.
option(SPILLWAY_CUDA "build the module for CUDA devices, with nvcc" OFF)
set(SPILLWAY_CUDA_ARCHITECTURES "" CACHE STRING
  "what the module is compiled for, the oldest first; \"\": 80, 90 and, where nvcc knows it, 100")
set(SPILLWAY_KOKKOS_CUDA_ROOT "" CACHE PATH "an installed static Kokkos with CUDA, for the module")
set(SPILLWAY_KOKKOS_CUDA_SOURCE "" CACHE PATH
  "the sources of the module's Kokkos; \"\": FETCHCONTENT_SOURCE_DIR_KOKKOS, or what is fetched")
set(spillway_cuda_module ${PROJECT_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/spillway/spillway_cuda.so)

# Finds nvcc, and gives the release of its CUDA.
function(find_nvcc result)
  find_program(SPILLWAY_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda
    PATH_SUFFIXES bin)
  if(NOT SPILLWAY_NVCC)
    message(FATAL_ERROR "SPILLWAY_CUDA: there is no nvcc on PATH nor in CUDA_HOME. Load a module "
      "of CUDA 12.5 or newer, or leave SPILLWAY_CUDA off")
  endif()
  execute_process(COMMAND ${SPILLWAY_NVCC} --version OUTPUT_VARIABLE version ERROR_VARIABLE trouble)
  string(REGEX MATCH "release ([0-9.]+)" version "${version}${trouble}")
  set(release ${CMAKE_MATCH_1})
  if(NOT version OR release VERSION_LESS 12.5)
    message(FATAL_ERROR "SPILLWAY_CUDA: ${SPILLWAY_NVCC} is not of CUDA 12.5 or newer "
      "(${version}${trouble}). Load a module that is, or leave SPILLWAY_CUDA off")
  endif()
  set(${result} ${release} PARENT_SCOPE)
endfunction()

# Ends the configure if nvcc's toolkit has no cublasLt. nvcc says where that is, since it may be
# started by a link or a script elsewhere.
function(check_cublaslt release)
  execute_process(COMMAND ${SPILLWAY_NVCC} -v no_source OUTPUT_VARIABLE said ERROR_VARIABLE said)
  cmake_path(GET SPILLWAY_NVCC PARENT_PATH toolkit)
  set(toolkits ${toolkit}/..)
  if(said MATCHES "#\\$ TOP=([^\r\n]+)")
    list(APPEND toolkits ${CMAKE_MATCH_1})
  endif()
  foreach(toolkit IN LISTS toolkits)
    # The last is the layout of NVIDIA's HPC SDK.
    file(GLOB header ${toolkit}/include/cublasLt.h ${toolkit}/targets/*/include/cublasLt.h
      ${toolkit}/../../math_libs/include/cublasLt.h)
    if(header)
      return()
    endif()
  endforeach()
  string(REPLACE . - packaged ${release})
  message(FATAL_ERROR "SPILLWAY_CUDA: the toolkit of ${SPILLWAY_NVCC} has no cublasLt.h. Install "
    "cuBLAS (of NVIDIA's packages libcublas-dev-${packaged}), load a module that has it, or leave "
    "SPILLWAY_CUDA off")
endfunction()

# Gives what the module is compiled for, as CMAKE_CUDA_ARCHITECTURES. By default the oldest has PTX,
# too, from which drivers make code for other GPUs.
function(choose_architectures release result)
  set(chosen ${SPILLWAY_CUDA_ARCHITECTURES})
  foreach(architecture IN LISTS chosen)
    if(NOT architecture MATCHES "^([0-9]+)[af]?(-real|-virtual)?$")
      message(FATAL_ERROR "SPILLWAY_CUDA_ARCHITECTURES: ${architecture}: give numbers, the oldest "
        "first, such as 80;90-real")
    elseif(CMAKE_MATCH_1 LESS 80)
      message(FATAL_ERROR "SPILLWAY_CUDA_ARCHITECTURES: ${architecture}: kernels are for 80 and "
        "newer")
    elseif(CMAKE_MATCH_1 GREATER_EQUAL 100 AND release VERSION_LESS 12.8)
      message(FATAL_ERROR "SPILLWAY_CUDA_ARCHITECTURES: ${architecture} wants CUDA 12.8, and "
        "${SPILLWAY_NVCC} is of ${release}. Load a newer module, or leave it out")
    endif()
  endforeach()
  if(NOT chosen)
    set(chosen 80 90-real)
    if(release VERSION_GREATER_EQUAL 12.8)
      list(APPEND chosen 100-real)
    endif()
  endif()
  set(${result} ${chosen} PARENT_SCOPE)
endfunction()

function(build_cuda_module)
  find_nvcc(release)
  check_cublaslt(${release})
  choose_architectures(${release} architectures)
  # Tests read the PTX in the module. They know the compression of nvcc 13, if zstd is there.
  set(flags ${CMAKE_CUDA_FLAGS})
  if(BUILD_TESTING AND (NOT zstd_FOUND OR release VERSION_LESS 13))
    string(APPEND flags " --no-compress")
  endif()
  set(kokkos ${SPILLWAY_KOKKOS_CUDA_SOURCE})
  if(NOT kokkos)
    set(kokkos ${FETCHCONTENT_SOURCE_DIR_KOKKOS})
  endif()
  string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
  # ExternalProject writes flags between quotes, and they may have some of their own.
  foreach(type "" _${build_type})
    string(REGEX REPLACE "([\\\"$])" "\\\\\\1" cxx_flags${type} "${CMAKE_CXX_FLAGS${type}}")
  endforeach()
  cmake_path(GET spillway_cuda_module PARENT_PATH folder)
  include(ExternalProject)
  ExternalProject_Add(spillway_cuda_module
    SOURCE_DIR ${PROJECT_SOURCE_DIR}/modules/cuda
    BINARY_DIR ${PROJECT_BINARY_DIR}/modules/cuda
    DEPENDS spillway_version_header
    CMAKE_CACHE_ARGS
      -DCMAKE_BUILD_TYPE:STRING=${CMAKE_BUILD_TYPE}
      -DCMAKE_TOOLCHAIN_FILE:FILEPATH=${CMAKE_TOOLCHAIN_FILE}
      -DCMAKE_CXX_COMPILER:FILEPATH=${CMAKE_CXX_COMPILER}
      -DCMAKE_CXX_FLAGS:STRING=${cxx_flags}
      -DCMAKE_CXX_FLAGS_${build_type}:STRING=${cxx_flags_${build_type}}
      -DCMAKE_CUDA_COMPILER:FILEPATH=${SPILLWAY_NVCC}
      -DCMAKE_CUDA_HOST_COMPILER:FILEPATH=${CMAKE_CXX_COMPILER}
      -DCMAKE_CUDA_FLAGS:STRING=${flags}
      -DCMAKE_CUDA_ARCHITECTURES:STRING=${architectures}
      -DCMAKE_LIBRARY_OUTPUT_DIRECTORY:PATH=${folder}
      -DCMAKE_PREFIX_PATH:STRING=${CMAKE_PREFIX_PATH}
      -Dfmt_DIR:PATH=${fmt_DIR}
      -Dnlohmann_json_DIR:PATH=${nlohmann_json_DIR}
      -DSPILLWAY_GENERATED:PATH=${PROJECT_BINARY_DIR}/generated
      -DSPILLWAY_DOWNLOADS:PATH=${PROJECT_BINARY_DIR}/_deps
      -DSPILLWAY_KOKKOS_CUDA_ROOT:PATH=${SPILLWAY_KOKKOS_CUDA_ROOT}
      -DFETCHCONTENT_SOURCE_DIR_KOKKOS:PATH=${kokkos}
      -DSPILLWAY_UNITY:BOOL=${SPILLWAY_UNITY}
      -DSPILLWAY_WERROR:BOOL=${SPILLWAY_WERROR}
    BUILD_ALWAYS ON BUILD_BYPRODUCTS ${spillway_cuda_module} INSTALL_COMMAND "")
  install(PROGRAMS ${spillway_cuda_module} DESTINATION ${CMAKE_INSTALL_LIBDIR}/spillway)
endfunction()
if(SPILLWAY_CUDA)
  build_cuda_module()
else()
  message(STATUS "SPILLWAY_CUDA is off: the module for CUDA devices and tests of its kernels "
    "(..._on_ptx) are left out")
endif()
