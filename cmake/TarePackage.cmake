# The Python package as it is installed in TARE_PACKAGE, below the prefix:
#
#   *.py                             by scikit-build-core in a wheel, by the rule below otherwise
#   _native.*.so                     src/bindings: install(TARGETS ... DESTINATION ${TARE_PACKAGE} COMPONENT python)
#   _native.pyi, …                   stubs of the modules, generated (src/bindings)
#   _functions.py                    what MPI functions mean, generated (src/format)
#   _tables.py                       the tables of a run, generated (src/reader)
#   _version.py                      the version of CMakeLists.txt, and what was not there for the build
#   lib/libtare.so, tared, …         the folders of src: install(TARGETS ... DESTINATION ${TARE_PACKAGE}/lib COMPONENT python)
#
# and the command bin/tare (component command), which in a wheel is pip's, with a file for Environment Modules
# (component modulefile).

if(NOT SKBUILD)
  # Files deleted from the source must not live on in site-packages.
  install(CODE "set(source \"${PROJECT_SOURCE_DIR}/python/tare\")\nset(package \"${TARE_PACKAGE}\")" COMPONENT python)
  install(CODE [[
    set(package "${CMAKE_INSTALL_PREFIX}/${package}")
    file(GLOB_RECURSE installed RELATIVE "${package}" "${package}/*.py" "${package}/*.pyi" "${package}/*/entry_points.txt")
    foreach(file IN LISTS installed)
      if(NOT EXISTS "${source}/${file}")
        file(REMOVE "${package}/${file}")
      endif()
    endforeach()
  ]] COMPONENT python)
  install(DIRECTORY python/tare/ DESTINATION ${TARE_PACKAGE} COMPONENT python
    PATTERN __pycache__ EXCLUDE PATTERN README.md EXCLUDE)

  file(RELATIVE_PATH TARE_SITE /bin /${TARE_PYTHON_DIR})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/tare.in ${PROJECT_BINARY_DIR}/tare @ONLY)
  install(PROGRAMS ${PROJECT_BINARY_DIR}/tare DESTINATION bin COMPONENT command)
  configure_file(${PROJECT_SOURCE_DIR}/packaging/modulefile.in ${PROJECT_BINARY_DIR}/modulefile @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/modulefile DESTINATION share/modulefiles/tare RENAME ${PROJECT_VERSION}
    COMPONENT modulefile)
  execute_process(COMMAND ${Python_EXECUTABLE} -c "import msgspec, scipy" RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    message(STATUS "tare: to run, it also needs the Python packages msgspec and scipy "
      "(${Python_EXECUTABLE} -m pip install msgspec scipy)")
  endif()
endif()
if(SKBUILD)
  # What programs are built with, and the manual, belong below the prefix of the Python.
  foreach(component devel manual)
    install(CODE "set(command \"${CMAKE_COMMAND}\" --install \"${PROJECT_BINARY_DIR}\" --component ${component}
      --prefix \"${SKBUILD_DATA_DIR}\")" COMPONENT python)
    install(CODE [[
      if(CMAKE_INSTALL_DO_STRIP)
        list(APPEND command --strip)
      endif()
      execute_process(COMMAND ${command} OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
    ]] COMPONENT python)
  endforeach()
endif()
list(TRANSFORM TARE_WITHOUT REPLACE "(.+)" "\"\\1\"" OUTPUT_VARIABLE without)
list(JOIN without ", " without)
file(CONFIGURE OUTPUT ${TARE_GENERATED}/_version.py
  CONTENT "__version__ = \"@PROJECT_VERSION@\"\nWITHOUT = frozenset([@without@])\n" @ONLY)
install(DIRECTORY ${TARE_GENERATED}/tare/ DESTINATION ${TARE_PACKAGE} COMPONENT python FILES_MATCHING PATTERN "*.pyi")
install(FILES ${TARE_GENERATED}/_functions.py ${TARE_GENERATED}/tare/_tables.py ${TARE_GENERATED}/_version.py
  DESTINATION ${TARE_PACKAGE} COMPONENT python)
