# Installation. Default: a development tree with programs, libraries, headers
# and a relocatable CMake package. Component `wheel`: the two libraries where the
# Python package looks for them.

include(CMakePackageConfigHelpers)

if(NOT MLA_STATIC)
  set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mla)
  get_property(tools GLOBAL PROPERTY MLA_TOOLS)
  install(TARGETS MLACompiler MLARuntime ${tools}
    EXPORT MLATargets
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(EXPORT MLATargets NAMESPACE MLA:: DESTINATION ${package_dir})

  configure_package_config_file(
    ${CMAKE_CURRENT_LIST_DIR}/MLAConfig.cmake.in
    ${PROJECT_BINARY_DIR}/cmake/MLAConfig.cmake
    INSTALL_DESTINATION ${package_dir}
    PATH_VARS CMAKE_INSTALL_INCLUDEDIR)
  write_basic_package_version_file(
    ${PROJECT_BINARY_DIR}/cmake/MLAConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
  install(FILES
    ${PROJECT_BINARY_DIR}/cmake/MLAConfig.cmake
    ${PROJECT_BINARY_DIR}/cmake/MLAConfigVersion.cmake
    DESTINATION ${package_dir})

  install(DIRECTORY include/mla include/mla-c
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td")
  install(DIRECTORY ${PROJECT_BINARY_DIR}/include/mla
    DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILES_MATCHING PATTERN "*.h" PATTERN "*.h.inc"
    PATTERN "CMakeFiles" EXCLUDE)
  install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()

install(TARGETS MLACompiler MLARuntime
  LIBRARY DESTINATION mla/_lib COMPONENT wheel EXCLUDE_FROM_ALL)
