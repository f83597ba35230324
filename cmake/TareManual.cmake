# Manual pages and shell completion (component manual), by tools/manual.py from what makes the help of verbs:
#
#   share/man/man1/tare.1, tare-run.1, …
#   share/bash-completion/completions/tare, share/zsh/site-functions/_tare, share/fish/vendor_completions.d/tare.fish
if(TARE_HOST_BUILD)
  install(DIRECTORY ${TARE_HOST_BUILD}/manual/share DESTINATION . COMPONENT manual)
endif()
if(NOT TARE_BINDINGS OR CMAKE_CROSSCOMPILING)
  return()
endif()
execute_process(COMMAND ${Python_EXECUTABLE} -c "import shtab, argparse_manpage, msgspec" RESULT_VARIABLE failed ERROR_QUIET)
if(failed)
  message(STATUS "tare: shtab, argparse-manpage or msgspec is not here; without them: manual pages and shell completion "
    "(${Python_EXECUTABLE} -m pip install shtab argparse-manpage msgspec)")
  return()
endif()

set(manual ${PROJECT_BINARY_DIR}/manual)
file(GLOB_RECURSE verbs CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/python/tare/*.py)
add_custom_command(
  OUTPUT ${manual}/stamp
  COMMAND ${CMAKE_COMMAND} -E rm -rf ${manual}
  COMMAND ${Python_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/tools/manual.py ${manual}/share ${PROJECT_SOURCE_DIR}/python/tare
    ${PROJECT_BINARY_DIR}/modules/tare ${TARE_GENERATED} ${TARE_GENERATED}/tare
  COMMAND ${CMAKE_COMMAND} -E touch ${manual}/stamp
  DEPENDS ${PROJECT_SOURCE_DIR}/tools/manual.py ${verbs} tare_native tare_record_python tare_generated tare_reader
  COMMENT "Writing manual pages"
  VERBATIM)
add_custom_target(tare_manual ALL DEPENDS ${manual}/stamp)
install(DIRECTORY ${manual}/share DESTINATION . COMPONENT manual)
