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

macro(find_carquet)
  find_package(ZLIB QUIET)  # which an installed carquet links to without finding it
  find_package(carquet ${carquet_oldest} CONFIG QUIET)
  set(carquet_sources ${PROJECT_SOURCE_DIR}/build/_deps/carquet/native)
  if(TARGET carquet::carquet)
    message(STATUS "carquet: ${carquet_DIR}")
  elseif(zlib_FOUND AND zstd_FOUND AND lz4_FOUND AND EXISTS ${carquet_sources}/CMakeLists.txt)
    message(STATUS "carquet: ${carquet_sources}")
    add_carquet(${carquet_sources})
  else()
    message(STATUS "carquet: not found, so that tables of Parquet are not read. An installed one, "
      "or zlib, zstd, lz4 and the sources that jobs/setup.sh fetches, bring it")
  endif()
endmacro()
