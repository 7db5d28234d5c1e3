# Libraries that the project stands on. All that are missing are named at once, with their packages.
include(${CMAKE_CURRENT_LIST_DIR}/Kokkos.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/Cuda.cmake)
include(${CMAKE_CURRENT_LIST_DIR}/Parquet.cmake)
set(missing)

# find_dependency_of_ours(NAME args...): find_package that remembers a failure and goes on.
macro(find_dependency_of_ours name)
  find_package(${name} ${ARGN} QUIET)
  if(NOT ${name}_FOUND)
    list(APPEND missing ${name})
  endif()
endmacro()

find_package(Threads REQUIRED)
find_dependency_of_ours(MPI COMPONENTS C)
find_dependency_of_ours(HDF5 COMPONENTS C)
find_dependency_of_ours(yaml-cpp)
find_dependency_of_ours(CLI11)
find_dependency_of_ours(nlohmann_json)
find_dependency_of_ours(fmt)
find_dependency_of_ours(spdlog)
if(BUILD_TESTING)
  find_dependency_of_ours(GTest)
  find_dependency_of_ours(benchmark)
endif()

# Debian's dnnl config asks for OpenCL headers that a CPU build does not need: find it plainly.
find_path(dnnl_INCLUDE_DIR dnnl.hpp)
find_library(dnnl_LIBRARY dnnl)
if(dnnl_INCLUDE_DIR AND dnnl_LIBRARY)
  add_library(spillway_dnnl INTERFACE)
  target_include_directories(spillway_dnnl SYSTEM INTERFACE ${dnnl_INCLUDE_DIR})
  target_link_libraries(spillway_dnnl INTERFACE ${dnnl_LIBRARY})
else()
  list(APPEND missing oneDNN)
endif()

find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(xxhash QUIET IMPORTED_TARGET libxxhash)
  pkg_check_modules(liburing QUIET IMPORTED_TARGET liburing)
  pkg_check_modules(PCRE2 QUIET IMPORTED_TARGET libpcre2-8)
  pkg_check_modules(utf8proc QUIET IMPORTED_TARGET libutf8proc)
  pkg_check_modules(sentencepiece QUIET IMPORTED_TARGET sentencepiece)  # may be missing
  pkg_check_modules(zlib QUIET IMPORTED_TARGET zlib)  # may be missing
  pkg_check_modules(zstd QUIET IMPORTED_TARGET libzstd)  # may be missing
  pkg_check_modules(lz4 QUIET IMPORTED_TARGET liblz4)  # may be missing
else()
  list(APPEND missing pkg-config)
endif()
foreach(library xxhash liburing PCRE2 utf8proc)
  if(NOT ${library}_FOUND)
    list(APPEND missing ${library})
  endif()
endforeach()

find_kokkos()
if(NOT Kokkos_FOUND)
  list(APPEND missing Kokkos)
endif()

find_cuda_headers()
find_carquet()

# One message for all: a person installs once instead of configuring ten times.
function(report_missing)
  file(STRINGS ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/packages.txt rows REGEX "^[^#]")
  foreach(name IN LISTS ARGN)
    foreach(row IN LISTS rows)
      separate_arguments(columns UNIX_COMMAND "${row}")
      list(POP_FRONT columns key apt dnf spack)
      if(key STREQUAL name)
        list(APPEND all_apt ${apt})
        list(APPEND all_dnf ${dnf})
        list(APPEND all_spack ${spack})
      endif()
    endforeach()
  endforeach()
  list(REMOVE_ITEM all_apt -)
  list(JOIN ARGN ", " names)
  list(JOIN all_apt " " apt)
  if(apt)
    string(PREPEND apt "apt install ")
  else()
    set(apt "no package; load a module, or set Kokkos_ROOT to an installed one")
  endif()
  list(JOIN all_dnf " " dnf)
  list(JOIN all_spack " " spack)
  message(FATAL_ERROR "not found: ${names}\n"
    "  Debian, Ubuntu:  ${apt}\n  Fedora, RHEL:    dnf install ${dnf}\n"
    "  Spack:           spack install ${spack}\n${kokkos_trouble}")
endfunction()
if(missing)
  report_missing(${missing})
endif()

# Tests oversubscribe the cores and may run as root in a container; only Open MPI has to be told.
# Its daemons need the directories that programs without mpirun are denied (SpillwayTests.cmake).
set(SPILLWAY_MPI_FLAGS)
execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE mpiexec_version ERROR_QUIET)
if(mpiexec_version MATCHES "Open ?MPI|OpenRTE")
  set(SPILLWAY_MPI_FLAGS --allow-run-as-root --oversubscribe --bind-to none
    --mca orte_create_session_dirs 1)
endif()
