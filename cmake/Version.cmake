# spillway::version gives "version.hpp": what this binary is made of. The git hash is read at each
# build; the header changes, and its users are compiled again, only if something in it did.
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
set(flags "${CMAKE_BUILD_TYPE} ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
foreach(option NATIVE SANITIZE)
  if(SPILLWAY_${option})
    string(TOLOWER " ${option}" word)
    string(APPEND flags "${word}")
  endif()
endforeach()
string(REGEX REPLACE " +" " " flags "${flags}")

file(STRINGS ${dnnl_INCLUDE_DIR}/oneapi/dnnl/dnnl_version.h dnnl_numbers
  REGEX "define DNNL_VERSION_(MAJOR|MINOR|PATCH)")
string(REGEX MATCHALL "[0-9]+" dnnl_version "${dnnl_numbers}")
list(JOIN dnnl_version . dnnl_version)
list(JOIN Kokkos_DEVICES " " devices)
string(CONCAT features "Kokkos ${Kokkos_VERSION} (${devices}), MPI ${MPI_C_VERSION}, "
  "HDF5 ${HDF5_VERSION}, oneDNN ${dnnl_version}, liburing ${liburing_VERSION}")

set(version_args -DSOURCE=${PROJECT_SOURCE_DIR} -DOUT=${PROJECT_BINARY_DIR}/generated/version.hpp
  -DVERSION=${PROJECT_VERSION} -DFLAGS=${flags} -DFEATURES=${features}
  "-DCOMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
  -P ${CMAKE_CURRENT_LIST_DIR}/write_version.cmake)
execute_process(COMMAND ${CMAKE_COMMAND} ${version_args} COMMAND_ERROR_IS_FATAL ANY)
add_custom_target(spillway_version_header COMMAND ${CMAKE_COMMAND} ${version_args} VERBATIM
  BYPRODUCTS ${PROJECT_BINARY_DIR}/generated/version.hpp COMMENT "")
add_library(spillway_version INTERFACE)
target_include_directories(spillway_version INTERFACE ${PROJECT_BINARY_DIR}/generated)
add_dependencies(spillway_version spillway_version_header)
add_library(spillway::version ALIAS spillway_version)
