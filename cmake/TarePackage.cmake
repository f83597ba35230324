# The Python package as it is installed, relative to site-packages:
#
#   tare/*.py                              by scikit-build-core in a wheel, by the rule below otherwise
#   tare/_native.*.so                      src/bindings: install(TARGETS ... DESTINATION tare COMPONENT python)
#   tare/_native.pyi, …                    stubs of the modules, generated (src/bindings)
#   tare/_functions.py                     what MPI functions mean, generated (src/format)
#   tare/_tables.py                        the tables of a run, generated (src/reader)
#   tare/_version.py                       the version of CMakeLists.txt
#   tare/lib/libtare.so, libtare-forward.so  src/mpi:    install(TARGETS ... DESTINATION tare/lib COMPONENT python)

if(NOT SKBUILD)
  # Files deleted from the source must not live on in site-packages.
  install(CODE "set(source \"${PROJECT_SOURCE_DIR}/python/tare\")" COMPONENT python)
  install(CODE [[
    file(GLOB_RECURSE installed RELATIVE "${CMAKE_INSTALL_PREFIX}/tare"
      "${CMAKE_INSTALL_PREFIX}/tare/*.py" "${CMAKE_INSTALL_PREFIX}/tare/*.pyi"
      "${CMAKE_INSTALL_PREFIX}/tare/*/entry_points.txt")
    foreach(file IN LISTS installed)
      if(NOT EXISTS "${source}/${file}")
        file(REMOVE "${CMAKE_INSTALL_PREFIX}/tare/${file}")
      endif()
    endforeach()
  ]] COMPONENT python)
  install(DIRECTORY python/tare/ DESTINATION tare COMPONENT python
    PATTERN __pycache__ EXCLUDE PATTERN README.md EXCLUDE)
endif()
file(CONFIGURE OUTPUT ${TARE_GENERATED}/_version.py CONTENT "__version__ = \"@PROJECT_VERSION@\"\n" @ONLY)
install(DIRECTORY ${TARE_GENERATED}/tare DESTINATION . COMPONENT python FILES_MATCHING PATTERN "*.pyi")
install(FILES ${TARE_GENERATED}/_functions.py ${TARE_GENERATED}/tare/_tables.py ${TARE_GENERATED}/_version.py
  DESTINATION tare COMPONENT python)
