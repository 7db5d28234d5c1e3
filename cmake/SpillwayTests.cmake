# How test sources become programs and ctest's tests.

# What every test needs around it: Open MPI as root in a container, threads that share the cores, a
# cache that is not the user's. A program without mpirun starts no daemon of Open MPI, which would
# take longer than most of what it does. Nor does it make Open MPI's directories: without a daemon
# they have one name for all programs, and one that ends would remove them while another makes them.
set(spillway_test_environment OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMP_NUM_THREADS=2 OMP_PROC_BIND=false OMP_WAIT_POLICY=passive
  OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_orte_create_session_dirs=0
  XDG_CACHE_HOME=${PROJECT_BINARY_DIR}/tests/cache
  UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 ASAN_OPTIONS=detect_leaks=0)

# Tests of the label `gpu` run on the devices that the user sees; all others on none.
set(spillway_gpu_environment ${spillway_test_environment})
list(APPEND spillway_test_environment CUDA_VISIBLE_DEVICES=-1)

# What scripts need that call mpirun themselves: Open MPI as users have it.
set(spillway_mpi_of_users OMPI_MCA_ess_singleton_isolated=unset:
  OMPI_MCA_orte_create_session_dirs=unset:)

# What takes so many seconds hangs: far beyond what any test takes, so that no busy machine makes it
# fail. Long tests have more.
set(spillway_hang_s 3600)
set(spillway_long_hang_s 28800)

# spillway_tests(NAME [KOKKOS | PLAN | PROGRAM] [LABEL unit] [LINK libs...]
#   SOURCES files...): test_NAME, one program of all these sources. For ctest each source is a test
# of its own, of the file's name: run_tests() picks what stands there, and fails if any test stands
# in none of them.
# KOKKOS: what it links to brings Kokkos' flags. PLAN: it computes much itself, as tests of plans
# do. PROGRAM: its tests start the program. Each kind is compiled, and has precompiled headers, as
# one of the libraries in tests/support.
set(spillway_tests_of_KOKKOS support)
set(spillway_tests_of_PLAN plan)
set(spillway_tests_of_PROGRAM program)
function(spillway_tests name)
  cmake_parse_arguments(ARG "KOKKOS;PLAN;PROGRAM" "LABEL" "LINK;SOURCES" ${ARGN})
  list(TRANSFORM ARG_SOURCES REPLACE "\\.cpp$" "" OUTPUT_VARIABLE files)
  list(JOIN files "\", \"" names)
  set(main ${CMAKE_CURRENT_BINARY_DIR}/main_${name}.cpp)
  file(CONFIGURE OUTPUT ${main} CONTENT "#include \"tests/support/run_tests.hpp\"
int main(int argc, char** argv) { return spillway::test::run_tests(argc, argv, {\"${names}\"}); }
")
  add_test_program(test_${name} ${ARG_SOURCES} ${main})
  foreach(file IN LISTS files)
    add_test(NAME ${file} COMMAND test_${name} --file=${file})
  endforeach()
  describe_tests(${files})
endfunction()

# spillway_test(NAME [KOKKOS] [LABEL unit] [LINK libs...] [RANKS n...]): NAME.cpp,
# which has a main function of its own; under mpirun with each number of ranks that is given.
function(spillway_test name)
  cmake_parse_arguments(ARG "KOKKOS" "LABEL" "LINK;RANKS" ${ARGN})
  add_test_program(test_${name} ${name}.cpp)
  if(NOT ARG_RANKS)
    add_test(NAME ${name} COMMAND test_${name})
    describe_tests(${name})
  endif()
  foreach(ranks IN LISTS ARG_RANKS)
    set(test ${name}_${ranks}ranks)
    add_test(NAME ${test} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks}
      ${SPILLWAY_MPI_FLAGS} $<TARGET_FILE:test_${name}>)
    describe_tests(${test})
    set_tests_properties(${test} PROPERTIES PROCESSORS ${ranks})
  endforeach()
endfunction()

# start_on(STAND_IN|PTX TESTS...): tests that start the program start spillway_on_stand_in or
# spillway_on_ptx, which has a GPU for each rank.
function(start_on where)
  set_property(TEST ${ARGN} APPEND PROPERTY ENVIRONMENT SPILLWAY_ON_${where}=1
    SPILLWAY_STAND_IN_DEVICES=4 SPILLWAY_STAND_IN_MEMORY=4294967296)
endfunction()

# again_on_stand_in(PROGRAM FILES... [TURNS files...] [LONG files...]): the same tests once more,
# FILE_on_stand_in. Of those behind TURNS an ordinary run takes one, the others are skipped; those
# behind LONG have that label.
function(again_on_stand_in program)
  cmake_parse_arguments(ARG "" "" "TURNS;LONG" ${ARGN})
  foreach(file IN LISTS ARG_UNPARSED_ARGUMENTS ARG_TURNS ARG_LONG)
    set(test ${file}_on_stand_in)
    add_test(NAME ${test} COMMAND ${program} --file=${file})
    foreach(name LABELS TIMEOUT ENVIRONMENT PROCESSORS)
      get_test_property(${file} ${name} value)
      if(value)
        set_property(TEST ${test} PROPERTY ${name} "${value}")
      endif()
    endforeach()
    start_on(STAND_IN ${test})
    if(file IN_LIST ARG_LONG)
      set_property(TEST ${test} PROPERTY LABELS long)
    elseif(file IN_LIST ARG_TURNS)
      list(FIND ARG_TURNS ${file} turn)
      list(LENGTH ARG_TURNS turns)
      set_property(TEST ${test} PROPERTY SKIP_RETURN_CODE 77)
      set_property(TEST ${test} APPEND PROPERTY ENVIRONMENT SPILLWAY_TURN=${turn}/${turns})
      whole_test(${test} ${program} --file=${file})
    endif()
  endforeach()
endfunction()

# again_on_ptx(FILE PROGRAM ARGUMENTS...): tests of a file once more, FILE_on_ptx.
function(again_on_ptx file program)
  set(test ${file}_on_ptx)
  add_test(NAME ${test} COMMAND ${program} ${ARGN})
  get_test_property(${file} LABELS label)
  set_tests_properties(${test} PROPERTIES LABELS ${label} TIMEOUT ${spillway_hang_s} PROCESSORS 2
    ENVIRONMENT "${spillway_test_environment}")
  start_on(PTX ${test})
  add_dependencies(${program} spillway_on_ptx)
endfunction()

# whole_test(TEST COMMAND...): TEST_whole, which is long and takes all cases of which TEST samples.
# Both work in one directory.
function(whole_test test)
  add_test(NAME ${test}_whole COMMAND ${ARGN})
  get_test_property(${test} ENVIRONMENT environment)
  get_test_property(${test} PROCESSORS processors)
  set_tests_properties(${test}_whole PROPERTIES LABELS long TIMEOUT ${spillway_long_hang_s}
    ENVIRONMENT "${environment};SPILLWAY_SAMPLE=all")
  if(processors)
    set_tests_properties(${test}_whole PROPERTIES PROCESSORS ${processors})
  endif()
  set_property(TEST ${test} ${test}_whole APPEND PROPERTY RESOURCE_LOCK ${test})
endfunction()

# The two halves of both, which read their callers' ARG_*.
macro(add_test_program target)
  add_executable(${target} ${ARGN})
  target_link_libraries(${target} PRIVATE ${ARG_LINK} spillway_test_main)
  set(like main)
  foreach(kind IN ITEMS KOKKOS PLAN PROGRAM)
    if(ARG_${kind})
      set(like ${spillway_tests_of_${kind}})
    endif()
  endforeach()
  get_target_property(optimised spillway_test_${like} SPILLWAY_OPTIMISED)
  set_target_properties(${target} PROPERTIES SPILLWAY_OPTIMISED ${optimised})
  target_precompile_headers(${target} REUSE_FROM spillway_test_${like})
endmacro()

macro(describe_tests)
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  set_tests_properties(${ARGN} PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT ${spillway_hang_s}
    ENVIRONMENT "${spillway_test_environment}")
endmacro()

# The folder's sources that no target has end the configure: their tests would silently be none.
function(every_source_is_built folder)
  set(here ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  file(GLOB sources RELATIVE ${here} CONFIGURE_DEPENDS ${folder}/*.cpp)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(built ${target} SOURCES)
    list(TRANSFORM built REPLACE "^${CMAKE_CURRENT_SOURCE_DIR}/${folder}/" "")
    list(REMOVE_ITEM sources ${built})
  endforeach()
  if(NOT SPILLWAY_CUDA_INCLUDE)  # without CUDA's headers nothing builds those that need them
    list(FILTER sources EXCLUDE REGEX "^cuda_")
  endif()
  if(NOT SPILLWAY_CUBLASLT)
    list(FILTER sources EXCLUDE REGEX "cublaslt")
  endif()
  if(NOT SPILLWAY_CUDA)
    list(FILTER sources EXCLUDE REGEX "_on_ptx\\.cpp$")
  endif()
  if(sources)
    message(FATAL_ERROR "tests/${folder}: no target has ${sources}")
  endif()
endfunction()

# Tests that headers of these libraries compile alone, also those that are the first include of a
# source: in a batch of sources, others come before them. They are compiled when a test runs, and
# again only after a change. `headers_alone` has, of the libraries whose turn it is in this sample,
# those without a source of their name, which no build compiles first; `headers_alone_whole`, which
# is long, has all headers.
function(spillway_headers_alone)
  set(turns 4)
  set(build ${CMAKE_COMMAND} --build ${PROJECT_BINARY_DIR} --parallel 2 --target)
  add_test(NAME headers_alone COMMAND bash ${PROJECT_SOURCE_DIR}/tests/support/in_turn.sh ${turns}
    ${build} headers_alone_)
  add_test(NAME headers_alone_whole COMMAND ${build} headers_alone_whole)
  set_tests_properties(headers_alone headers_alone_whole PROPERTIES LABELS unit
    TIMEOUT ${spillway_hang_s} PROCESSORS 2 RESOURCE_LOCK build_folder)
  set_tests_properties(headers_alone_whole PROPERTIES LABELS long)
  add_custom_target(headers_alone_whole)
  set(turn 0)
  while(turn LESS turns)
    add_custom_target(headers_alone_${turn})
    add_dependencies(headers_alone_whole headers_alone_${turn})
    math(EXPR turn "${turn} + 1")
  endwhile()
  set(number 0)
  foreach(name IN LISTS ARGN)
    math(EXPR turn "${number} % ${turns}")
    math(EXPR number "${number} + 1")
    get_target_property(folder spillway_${name} SOURCE_DIR)
    file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.hpp)
    set(without_source)
    set(with_source)
    foreach(header IN LISTS headers)
      cmake_path(GET header STEM stem)
      set(unit ${CMAKE_CURRENT_BINARY_DIR}/headers/${name}/${stem}.cpp)
      file(CONFIGURE OUTPUT ${unit} CONTENT "#include \"${header}\"\n")
      if(EXISTS ${folder}/${stem}.cpp)
        list(APPEND with_source ${unit})
      else()
        list(APPEND without_source ${unit})
      endif()
    endforeach()
    compile_headers(headers_${name} ${name} headers_alone_${turn} ${without_source})
    compile_headers(headers_of_sources_${name} ${name} headers_alone_whole ${with_source})
  endforeach()
endfunction()

# compile_headers(TARGET LIBRARY TEST UNITS...): the units as users of the library compile them.
function(compile_headers target name test)
  if(NOT ARGN OR (name STREQUAL parquet AND NOT TARGET carquet::carquet))
    return()
  endif()
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  target_link_libraries(${target} PRIVATE spillway_${name})
  target_compile_options(${target} PRIVATE -O0)
  if(name MATCHES "^(formulas|portable_host|kernels_host)$")  # users see no Kokkos, nor its space
    target_link_libraries(${target} PRIVATE Kokkos::kokkos)
    target_compile_definitions(${target} PRIVATE
      $<TARGET_PROPERTY:spillway_${name},COMPILE_DEFINITIONS>)
  elseif(name STREQUAL comm)  # nor MPI
    target_link_libraries(${target} PRIVATE MPI::MPI_C)
    target_compile_definitions(${target} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  elseif(name STREQUAL parquet)  # nor carquet
    target_link_libraries(${target} PRIVATE carquet::carquet)
  endif()
  add_dependencies(${test} ${target})
endfunction()
