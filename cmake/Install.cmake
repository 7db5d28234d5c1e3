# `cmake --install`: the binary, the example inputs, and Kokkos where it came from the wheel.
if(TARGET spillway)
  install(TARGETS spillway)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/input DESTINATION ${CMAKE_INSTALL_DATADIR}/spillway)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CITATION.cff
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
string(FIND "${Kokkos_DIR}" "${kokkos_tree}/" at)
if(at EQUAL 0)
  install_kokkos_wheel()
endif()
