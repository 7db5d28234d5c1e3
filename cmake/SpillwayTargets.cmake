# How the folders become targets: a library per folder.
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
option(SPILLWAY_UNITY "compile the sources of a folder in batches: half the time" ON)
set(CMAKE_UNITY_BUILD_BATCH_SIZE 16)
# GCC bug 105651: `"a" + string` is taken for an overlapping copy, the more so the more is inlined.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(spillway_flags INTERFACE -Wno-restrict)
endif()

# What reads and writes text, or runs between steps, is not where time goes, so a compiler need not
# take long over it.
function(compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# spillway_library(NAME [QUICK] [LINK libs...]): makes spillway::NAME of all .cpp of the folder. One
# that is QUICK is compiled quickly.
function(spillway_library name)
  cmake_parse_arguments(ARG "QUICK" "" "LINK" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS *.cpp)
  if(NOT sources)
    add_library(spillway_${name} INTERFACE)
    target_link_libraries(spillway_${name} INTERFACE $<BUILD_INTERFACE:spillway_flags> ${ARG_LINK})
  else()
    add_library(spillway_${name} STATIC ${sources})
    set_target_properties(spillway_${name} PROPERTIES UNITY_BUILD ${SPILLWAY_UNITY})
    if(ARG_QUICK)
      compile_quickly(spillway_${name})
    endif()
    target_link_libraries(spillway_${name} PUBLIC $<BUILD_INTERFACE:spillway_flags> ${ARG_LINK})
  endif()
  set_target_properties(spillway_${name} PROPERTIES EXPORT_NAME ${name})
  add_library(spillway::${name} ALIAS spillway_${name})
  set_property(GLOBAL APPEND PROPERTY spillway_libraries ${name})
endfunction()
