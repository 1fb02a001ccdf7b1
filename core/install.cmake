# The library for others: headers, archive, causeway.pc for pkg-config and a package for
# find_package(causeway CONFIG), which gives causeway::causeway. All of it can be moved as a whole.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# On Windows a shared library has two files: the DLL lies beside the programs.
install(TARGETS causeway EXPORT causeway ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY include/causeway DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

# What a program needs beside an archive, a shared library brings along.
list(JOIN NATIVE_LIBRARIES " -l" PC_LIBRARIES)
if(BUILD_SHARED_LIBS)
    set(PC_REQUIRES Requires.private)
    set(PC_LIBRARIES "\nLibs.private: -l${PC_LIBRARIES}")
else()
    set(PC_REQUIRES Requires)
    set(PC_LIBRARIES " -l${PC_LIBRARIES}")
endif()
set(PC_PACKAGES "")
if(CAUSEWAY_SODIUM STREQUAL system)
    set(PC_PACKAGES libsodium)
elseif(WIN32)
    string(APPEND PC_LIBRARIES " -lbcrypt")
endif()
set(PC_DIR ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH PREFIX_FROM_PC /prefix/${PC_DIR} /prefix)
configure_file(causeway.pc.in causeway.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/causeway.pc DESTINATION ${PC_DIR})

set(PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/causeway)
install(EXPORT causeway NAMESPACE causeway:: FILE causeway-targets.cmake DESTINATION ${PACKAGE_DIR})
configure_file(causeway-config.cmake.in causeway-config.cmake @ONLY)
write_basic_package_version_file(causeway-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/causeway-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/causeway-config-version.cmake
        DESTINATION ${PACKAGE_DIR})
