// Every test program, except those that run on several ranks, calls run_tests() in its main
// function.
#pragma once

#include <initializer_list>
#include <string>

namespace spillway::test {

// Lets run_tests() ask `why` before all tests of the program. If the answer is not empty, it is
// printed behind "skipped: ", and no test runs. A program calls this before its main function
// begins; the last call counts. Returns true, for the initialisation of a variable.
bool skip_all_tests_if(std::string (*why)());

// Runs all tests, or with --file=NAME those of NAME.cpp (an explicit --gtest_filter wins). `files`
// are the sources that ctest runs. Returns 1 without running a test if NAME.cpp has no test, if
// neither this function nor googletest knows an argument, if the source of a test is not among
// `files`, or if SPILLWAY_TURN is malformed. Returns 77 if SPILLWAY_TURN says that it is another
// program's turn, or if there is a reason to skip all tests.
int run_tests(int argc, char** argv, std::initializer_list<char const*> files);

}  // namespace spillway::test
