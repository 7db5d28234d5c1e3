# find_cuda_headers(): sets SPILLWAY_CUDA_INCLUDE to a folder of CUDA's headers: of an installed
# toolkit, else of the wheels that `jobs/setup.sh tests` has fetched. The host side of the CUDA
# backend needs no more to be compiled; where there are none (the name is then empty), it is left
# out. SPILLWAY_CUBLASLT says whether cublasLt's header is there too, as only toolkits have it.
set(cuda_oldest 12050)  # the first with cudaGetDriverEntryPointByVersion

# Says whether a folder has all headers, and new enough ones.
function(are_cuda_headers folder answer)
  set(${answer} FALSE PARENT_SCOPE)
  # Packages exist that bring the runtime's headers without this one, which they include.
  if(EXISTS ${folder}/cuda.h AND EXISTS ${folder}/cuda_runtime_api.h
     AND EXISTS ${folder}/crt/host_defines.h)
    file(STRINGS ${folder}/cuda.h line REGEX "^#define CUDA_VERSION +[0-9]+")
    string(REGEX MATCH "[0-9]+$" version "${line}")
    if(version GREATER_EQUAL cuda_oldest)
      set(${answer} TRUE PARENT_SCOPE)
    endif()
  endif()
endfunction()

function(find_cuda_headers)
  set(SPILLWAY_CUDA_INCLUDE "" PARENT_SCOPE)
  set(SPILLWAY_CUBLASLT FALSE PARENT_SCOPE)
  find_package(CUDAToolkit QUIET)
  foreach(folder ${CUDAToolkit_INCLUDE_DIRS} $ENV{CUDA_HOME}/include /usr/local/cuda/include
          ${PROJECT_SOURCE_DIR}/build/_deps/cuda-headers/nvidia/cu13/include)
    are_cuda_headers(${folder} found)
    if(found)
      set(SPILLWAY_CUDA_INCLUDE ${folder} PARENT_SCOPE)
      message(STATUS "CUDA's headers: ${folder}")
      if(EXISTS ${folder}/cublasLt.h AND EXISTS ${folder}/cublas_api.h)
        set(SPILLWAY_CUBLASLT TRUE PARENT_SCOPE)
      else()
        message(STATUS "cublasLt.h: not in ${folder}: the stand-in for cublasLt and its tests are "
          "left out. A toolkit with cuBLAS (CUDA_HOME, nvcc on PATH) brings it")
      endif()
      return()
    endif()
  endforeach()
  message(STATUS "CUDA's headers: none of 12.5 or newer: lib/device/cuda and its tests are left "
    "out. A toolkit (CUDA_HOME, nvcc on PATH) or `jobs/setup.sh tests` brings them")
endfunction()
