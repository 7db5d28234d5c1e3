// Every test program calls this in its main function.
#pragma once

#include <initializer_list>

namespace spillway::test {

// Runs all tests, or with --file=NAME those of NAME.cpp (an explicit --gtest_filter wins). Fails if
// that file has no test, if googletest does not know another argument, or if the source of a test
// is not among `files`, which ctest runs: ctest would never run that test. Returns 77 without
// running a test if SPILLWAY_TURN says that it is another program's turn, and fails if that
// variable is malformed.
int run_tests(int argc, char** argv, std::initializer_list<char const*> files);

}  // namespace spillway::test
