# batch_kernels(FOLDER COUNT OUT): writes COUNT sources that include the files of the ops in FOLDER,
# and sets OUT to them. Kokkos' headers take longest to compile, and a batch has them once. The
# files all use the same few names, so each gets a namespace of its own within that of the space;
# headers come first, in the space's.
function(batch_kernels folder count out)
  file(GLOB headers CONFIGURE_DEPENDS ${folder}/*.hpp)
  list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"\n")
  string(JOIN "" included ${headers})
  file(STRINGS ${folder}/kinds.def ops REGEX "^SPILLWAY_PORTABLE")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/kinds.def)
  set(at 0)
  foreach(op ${ops})
    string(REGEX REPLACE ".*\\((.*)\\)" "\\1" op ${op})
    string(APPEND batch_${at} "#define SPILLWAY_SPACE cuda::file_${op}\n"
      "#include \"${folder}/${op}.cpp\"\n#undef SPILLWAY_SPACE\n"
      "namespace spillway::cuda {\n"
      "Kernel kernel_${op}() {\n  return file_${op}::kernel_${op}();\n}\n}\n")
    math(EXPR at "(${at} + 1) % ${count}")
  endforeach()
  math(EXPR last "${count} - 1")
  foreach(at RANGE ${last})
    set(file ${CMAKE_CURRENT_BINARY_DIR}/kernels_${at}.cu)
    file(CONFIGURE OUTPUT ${file} @ONLY
      CONTENT "#define SPILLWAY_SPACE cuda\n${included}#undef SPILLWAY_SPACE\n${batch_${at}}")
    list(APPEND files ${file})
  endforeach()
  set(${out} ${files} PARENT_SCOPE)
endfunction()
