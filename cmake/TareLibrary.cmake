# tare_install_library(<target> <export>): a library that programs link, with the component devel.
#
# Programs find it where it was when they were linked, also after their own installation, which takes other paths away.
# Wheels have no symbolic links: there the linker gets the name of the library from a text.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

function(tare_install_library target export)
  target_link_options(${target} INTERFACE "$<INSTALL_INTERFACE:LINKER:-rpath,$<INSTALL_PREFIX>/${CMAKE_INSTALL_LIBDIR}>")
  if(NOT SKBUILD)
    install(TARGETS ${target} EXPORT ${export}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel NAMELINK_COMPONENT devel)
    return()
  endif()
  install(TARGETS ${target} EXPORT ${export}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel NAMELINK_SKIP)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/link/$<TARGET_LINKER_FILE_NAME:${target}>
    CONTENT "INPUT ( $<TARGET_SONAME_FILE_NAME:${target}> )\n")
  install(FILES ${PROJECT_BINARY_DIR}/link/$<TARGET_LINKER_FILE_NAME:${target}>
    DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel)
endfunction()
