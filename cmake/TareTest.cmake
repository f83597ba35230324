# tare_add_test(<name> SOURCES <file>... LIBRARIES <target>...)
#
# A GoogleTest program, which is one test of ctest: 400 processes of a sanitizer take minutes to begin. Of its cases, it
# runs those that GTEST_FILTER names. Nothing without TARE_TESTS.
# The target unit_tests builds all of them, and no library that only whole programs need. The label of the tests is unit.
if(TARE_TESTS)
  add_custom_target(unit_tests)
endif()

# What is tested is optimised; a test is compiled twice as fast like this.
function(tare_compile_as_test name)
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main Threads::Threads)
  if(NOT TARE_SANITIZER)
    target_compile_options(${name} PRIVATE -O1 -g1)
  elseif(TARE_SANITIZER MATCHES undefined)
    target_compile_options(${name} PRIVATE -O0)
    target_compile_options(${name} PRIVATE -fno-sanitize=undefined)  # what is tested has UBSan; fuzzers have it everywhere
  endif()
endfunction()

# With a sanitizer, where nothing but tests is built, GoogleTest's header is compiled once: it takes a third of the time.
if(TARE_TESTS AND TARE_SANITIZER)
  file(WRITE ${PROJECT_BINARY_DIR}/gtest.cpp "")
  add_executable(tare_gtest EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/gtest.cpp)
  tare_compile_as_test(tare_gtest)
  target_precompile_headers(tare_gtest PRIVATE <gtest/gtest.h>)
endif()

function(tare_add_test name)
  if(NOT TARE_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_executable(${name} EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES})
  tare_compile_as_test(${name})
  if(TARE_SANITIZER)
    target_precompile_headers(${name} REUSE_FROM tare_gtest)
  endif()
  # Tests are free to use the same names for other things.
  set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
  add_dependencies(unit_tests ${name})
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
  list(LENGTH arg_SOURCES sources)
  set(seconds 900)
  if(CMAKE_CROSSCOMPILING)
    set(seconds 7200)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS unit TIMEOUT ${seconds} COST ${sources})  # the longest go first
endfunction()

# tare_add_objects_of_users(<test> <file>.c...): shared objects as users make them. The test gets their paths, as macros
# with the names of the files in capitals.
function(tare_add_objects_of_users test)
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME_WE)
    add_library(${name} MODULE EXCLUDE_FROM_ALL ${file})
    set_target_properties(${name} PROPERTIES C_VISIBILITY_PRESET default)
    string(TOUPPER ${name} variable)
    target_compile_definitions(${test} PRIVATE ${variable}="$<TARGET_FILE:${name}>")
    add_dependencies(${test} ${name})
  endforeach()
endfunction()
