# How the folders become targets: a library per folder, a program per test.
add_library(spillway_flags INTERFACE)
target_include_directories(spillway_flags INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/lib)
# No contraction behind our back: an fma that is meant is written, so all builds of a formula agree.
target_compile_options(spillway_flags INTERFACE -Wall -Wextra -Wpedantic -ffp-contract=off
  $<$<BOOL:${SPILLWAY_WERROR}>:-Werror> $<$<BOOL:${SPILLWAY_NATIVE}>:-march=native>
  $<$<BOOL:${SPILLWAY_SANITIZE}>:-fsanitize=address,undefined -fno-omit-frame-pointer>)
target_link_options(spillway_flags INTERFACE
  $<$<BOOL:${SPILLWAY_SANITIZE}>:-fsanitize=address,undefined>)

# Sources of a library are compiled some at a time: most of a compiler's time goes into what they
# all include. One by one, a change is rebuilt sooner.
option(SPILLWAY_UNITY "compile the sources of a library in batches: half the time" ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)
# GCC bug 105651: `"a" + string` is taken for an overlapping copy, the more so the more is inlined.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(spillway_flags INTERFACE -Wno-restrict)
endif()

# spillway_library(NAME [LINK libs...]): the folder's library, of all its .cpp: spillway::NAME.
function(spillway_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  if(NOT sources)
    add_library(spillway_${name} INTERFACE)
    target_link_libraries(spillway_${name} INTERFACE spillway_flags ${ARG_LINK})
  else()
    add_library(spillway_${name} STATIC ${sources})
    set_target_properties(spillway_${name} PROPERTIES UNITY_BUILD ${SPILLWAY_UNITY})
    target_link_libraries(spillway_${name} PUBLIC spillway_flags ${ARG_LINK})
  endif()
  add_library(spillway::${name} ALIAS spillway_${name})
  set_property(GLOBAL APPEND PROPERTY spillway_libraries ${name})
  if(BUILD_TESTING)
    spillway_headers_alone(${name})
  endif()
endfunction()

# Every header compiles alone. One with a source of its own name is the first include there (the
# style test sees to it), so only the others need a translation unit for that.
function(spillway_headers_alone name)
  file(GLOB headers CONFIGURE_DEPENDS *.hpp)
  set(units)
  foreach(header IN LISTS headers)
    cmake_path(REPLACE_EXTENSION header LAST_ONLY cpp OUTPUT_VARIABLE source)
    if(NOT EXISTS ${source})
      cmake_path(GET header STEM stem)
      set(unit ${CMAKE_CURRENT_BINARY_DIR}/alone/${stem}.cpp)
      file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${header}\"\n")
      list(APPEND units ${unit})
    endif()
  endforeach()
  if(units)
    add_library(headers_${name} OBJECT ${units})
    target_link_libraries(headers_${name} PRIVATE spillway_${name})
    target_compile_options(headers_${name} PRIVATE -O0)
  endif()
endfunction()

# What every test needs around it: Open MPI as root in a container, threads that share the cores, a
# cache that is not the user's.
set(spillway_test_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMP_NUM_THREADS=2 OMP_PROC_BIND=false OMP_WAIT_POLICY=passive
  XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/tests/cache
  UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 ASAN_OPTIONS=detect_leaks=0)

# spillway_test(NAME [LABEL unit] [LINK libs...] [RANKS n...]): <NAME>.cpp with GoogleTest.
function(spillway_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "LINK;RANKS" ${ARGN})
  set(target test_${name})
  add_executable(${target} ${name}.cpp)
  target_link_libraries(${target} PRIVATE ${ARG_LINK} spillway_flags)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  set(tests)
  if(ARG_RANKS)
    target_link_libraries(${target} PRIVATE GTest::gtest)
    foreach(ranks IN LISTS ARG_RANKS)
      add_test(NAME ${name}_${ranks}ranks COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG}
        ${ranks} ${SPILLWAY_MPI_FLAGS} $<TARGET_FILE:${target}>)
      set_tests_properties(${name}_${ranks}ranks PROPERTIES PROCESSORS ${ranks})
      list(APPEND tests ${name}_${ranks}ranks)
    endforeach()
  else()
    target_link_libraries(${target} PRIVATE GTest::gtest_main)
    add_test(NAME ${name} COMMAND ${target})
    list(APPEND tests ${name})
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  set_tests_properties(${tests} PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "${spillway_test_environment}")
endfunction()
