# What mpi/generate.py makes of the MPI standard and the tables of functions.
#
#   tare_generate(<variable> <folder>)   the command that writes it into the folder
#
# It needs pympistandard. A source distribution has what it writes in mpi/generated, and is built without:
# scikit-build-core configures this project, with SKBUILD_STATE, to make one.
set(TARE_TABLES ${PROJECT_SOURCE_DIR}/mpi/functions.toml)
# Of sources of events other than MPI, in the order of the numbers of their functions.
set(TARE_SOURCES_TABLES)
foreach(source files stacks openmp)
  list(APPEND TARE_SOURCES_TABLES ${PROJECT_SOURCE_DIR}/src/${source}/functions.toml)
endforeach()
set(TARE_WRITTEN ${PROJECT_SOURCE_DIR}/mpi/generated)
if(EXISTS ${PROJECT_SOURCE_DIR}/PKG-INFO AND IS_DIRECTORY ${TARE_WRITTEN})
  set(TARE_IS_DISTRIBUTED ON)
else()
  set(TARE_IS_DISTRIBUTED OFF)
endif()

function(tare_generate command folder)
  if(TARE_IS_DISTRIBUTED)
    set(${command} ${CMAKE_COMMAND} -E copy_directory ${TARE_WRITTEN} ${folder} PARENT_SCOPE)
  else()
    set(${command} ${Python_EXECUTABLE} ${PROJECT_SOURCE_DIR}/mpi/generate.py ${TARE_TABLES} ${folder}
      ${TARE_SOURCES_TABLES} PARENT_SCOPE)
  endif()
endfunction()

if(SKBUILD_STATE STREQUAL sdist AND NOT TARE_IS_DISTRIBUTED)
  find_package(Python 3.11 REQUIRED COMPONENTS Interpreter)
  tare_generate(generate ${TARE_WRITTEN})
  file(REMOVE_RECURSE ${TARE_WRITTEN})
  execute_process(COMMAND ${generate} COMMAND_ERROR_IS_FATAL ANY)
endif()
