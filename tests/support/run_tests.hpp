// Every test program, except those that run on several ranks, calls run_tests() in its main
// function.
#pragma once

#include <initializer_list>

namespace spillway::test {

// Runs all tests, or with --file=NAME those of NAME.cpp (an explicit --gtest_filter wins). `files`
// are the sources that ctest runs. Returns 1 without running a test if NAME.cpp has no test, if
// neither this function nor googletest knows an argument, if the source of a test is not among
// `files`, or if SPILLWAY_TURN is malformed. Returns 77 if SPILLWAY_TURN says that it is another
// program's turn.
int run_tests(int argc, char** argv, std::initializer_list<char const*> files);

}  // namespace spillway::test
