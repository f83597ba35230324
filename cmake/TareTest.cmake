# tare_add_test(<name> SOURCES <file>... LIBRARIES <target>...)
#
# A GoogleTest program, each of its cases a ctest of its own. Nothing without TARE_TESTS.
function(tare_add_test name)
  if(NOT TARE_TESTS)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBRARIES")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} GTest::gtest GTest::gtest_main Threads::Threads)
  include(GoogleTest)
  # PRE_TEST: the cases are listed by ctest, not by the build, which then runs nothing.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${name}: "
    PROPERTIES TIMEOUT 120)
endfunction()
