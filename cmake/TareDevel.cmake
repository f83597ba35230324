# What programs that use the API are built with (component devel), below any prefix and movable:
#
#   include/tare/tare.h, tare.hpp, filter.h, sampling.h
#   lib/libtare_record.so
#   lib/cmake/tare/      find_package(tare) -> tare::record, and the Fortran module's source in tare_FORTRAN_SOURCE
#   lib/pkgconfig/tare.pc
#   share/tare/tare.f90  the Fortran module, to be compiled by the compiler of the program
include(TareLibrary)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/tare)
set(fortran_dir ${CMAKE_INSTALL_DATADIR}/tare)

set_target_properties(tare_record PROPERTIES EXPORT_NAME record)
tare_install_library(tare_record tareTargets)
install(EXPORT tareTargets NAMESPACE tare:: DESTINATION ${package_dir} COMPONENT devel)
install(FILES ${PROJECT_SOURCE_DIR}/include/tare/tare.h ${PROJECT_SOURCE_DIR}/include/tare/tare.hpp
  ${PROJECT_SOURCE_DIR}/include/tare/filter.h ${PROJECT_SOURCE_DIR}/include/tare/sampling.h
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/tare COMPONENT devel)
install(FILES ${PROJECT_SOURCE_DIR}/fortran/tare.f90 DESTINATION ${fortran_dir} COMPONENT devel)

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/tareConfig.cmake.in ${PROJECT_BINARY_DIR}/tareConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS fortran_dir)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tareConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/tareConfig.cmake ${PROJECT_BINARY_DIR}/tareConfigVersion.cmake
  DESTINATION ${package_dir} COMPONENT devel)

# pkg-config knows where the file lies, so the prefix need not be written into it.
file(RELATIVE_PATH pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${CMAKE_CURRENT_LIST_DIR}/tare.pc.in ${PROJECT_BINARY_DIR}/tare.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/tare.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT devel)
