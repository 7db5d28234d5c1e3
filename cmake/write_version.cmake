# Script: writes OUT from version.hpp.in, with the state of the git tree SOURCE.
find_program(GIT git)
set(GIT_HASH unknown)
if(GIT AND EXISTS ${SOURCE}/.git)
  execute_process(COMMAND ${GIT} -C ${SOURCE} describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE hash OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(hash)
    set(GIT_HASH ${hash})
  endif()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.hpp.in ${OUT} @ONLY)
