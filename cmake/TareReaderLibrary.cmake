# What programs that read runs are built with (component devel, beside that of TareDevel), below any prefix and movable:
#
#   include/tare/reader.h, arrow.h
#   lib/libtare-reader.so
#   lib/cmake/tare-reader/     find_package(tare-reader) -> tare::reader
#   lib/pkgconfig/tare-reader.pc
include(TareLibrary)

set(reader_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tare-reader)

tare_install_library(tare_reader_library tareReaderTargets)
install(EXPORT tareReaderTargets NAMESPACE tare:: FILE tare-reader-targets.cmake
  DESTINATION ${reader_package_dir} COMPONENT devel)
install(FILES ${PROJECT_SOURCE_DIR}/include/tare/reader.h ${PROJECT_SOURCE_DIR}/include/tare/arrow.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tare COMPONENT devel)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tare-reader-config.cmake.in
  ${PROJECT_BINARY_DIR}/tare-reader-config.cmake INSTALL_DESTINATION ${reader_package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tare-reader-config-version.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tare-reader-config.cmake ${PROJECT_BINARY_DIR}/tare-reader-config-version.cmake
  DESTINATION ${reader_package_dir} COMPONENT devel)

# As in tare.pc, pkg-config knows where the file lies.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/tare-reader.pc.in ${PROJECT_BINARY_DIR}/tare-reader.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tare-reader.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)
