# `cmake --install`: the program with its manual and completion, the example inputs, the deciding
# column for other programs, and Kokkos where it came from the wheel.
if(TARGET spillway)
  install(TARGETS spillway)
  if(NOT CMAKE_CROSSCOMPILING)
    install(FILES ${PROJECT_BINARY_DIR}/share/spillway.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/share/completion.bash RENAME spillway
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/input DESTINATION ${CMAKE_INSTALL_DATADIR}/spillway)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/jobs/slurm ${PROJECT_SOURCE_DIR}/jobs/pbs
  DESTINATION ${CMAKE_INSTALL_DATADIR}/spillway/jobs USE_SOURCE_PERMISSIONS)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/CITATION.cff
  DESTINATION ${CMAKE_INSTALL_DOCDIR})
string(FIND "${Kokkos_DIR}" "${kokkos_tree}/" at)
if(at EQUAL 0)
  install_kokkos_wheel()
endif()

# find_package(spillway): none of these needs Kokkos, MPI or a device. Their users compile with
# flags of their own.
foreach(name base config graph model plan
    data memory proof schedule compile time bound search explain listing move trace)
  target_compile_features(spillway_${name} INTERFACE cxx_std_20)
  target_include_directories(spillway_${name}
    INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/spillway>)
  install(TARGETS spillway_${name} EXPORT spillwayTargets)
endforeach()
foreach(folder base config graph model plan)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/lib/${folder}
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/spillway
    FILES_MATCHING PATTERN "*.hpp" PATTERN "*.def")
endforeach()
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/spillway)
install(EXPORT spillwayTargets NAMESPACE spillway:: DESTINATION ${package})
include(CMakePackageConfigHelpers)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/spillwayConfig.cmake.in
  ${PROJECT_BINARY_DIR}/share/spillwayConfig.cmake INSTALL_DESTINATION ${package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/share/spillwayConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/share/spillwayConfig.cmake
  ${PROJECT_BINARY_DIR}/share/spillwayConfigVersion.cmake DESTINATION ${package})
