# find_carquet(): gives the target carquet::carquet, by which tables of Parquet are read: of an
# installed library, else of the sources that jobs/setup.sh has fetched, built with the program.
# Where there is neither, the program is built without it.
set(carquet_oldest 0.7.2)

# What carquet stands on is given to it: it would fetch what it does not find.
function(add_carquet sources)
  set(CARQUET_ZLIB_TARGET PkgConfig::zlib)
  set(CARQUET_ZSTD_TARGET PkgConfig::zstd)
  set(CARQUET_LZ4_TARGET PkgConfig::lz4)
  set(CARQUET_ENABLE_BROTLI OFF)
  set(CARQUET_BUILD_CLI OFF)
  set(CMAKE_DISABLE_FIND_PACKAGE_OpenMP ON)
  add_subdirectory(${sources} ${PROJECT_BINARY_DIR}/_deps/carquet-build EXCLUDE_FROM_ALL SYSTEM)
  target_compile_options(carquet PRIVATE -w)
  add_library(carquet::carquet ALIAS carquet)
endfunction()

# The targets last; what packages of other names leave in variables does not.
function(find_carquet)
  foreach(library ZLIB zstd lz4)  # which an installed carquet may link to without finding them
    find_package(${library} QUIET)
  endforeach()
  find_package(carquet ${carquet_oldest} CONFIG QUIET)
  set(sources ${PROJECT_SOURCE_DIR}/build/_deps/carquet/native)
  if(TARGET carquet::carquet)
    message(STATUS "carquet: ${carquet_DIR}")
  elseif(TARGET PkgConfig::zlib AND TARGET PkgConfig::zstd AND TARGET PkgConfig::lz4
         AND EXISTS ${sources}/CMakeLists.txt)
    message(STATUS "carquet: ${sources}")
    add_carquet(${sources})
  else()
    message(STATUS "carquet: not found: tables of Parquet are not read. An installed one, or zlib, "
      "zstd, lz4 and the sources that jobs/setup.sh fetches, bring it")
  endif()
endfunction()
