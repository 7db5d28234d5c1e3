// What the main function of a test program does.
#pragma once

#include <initializer_list>

namespace spillway::test {

// Runs all tests, or with --file=NAME those of NAME.cpp (an explicit --gtest_filter wins). Fails if
// that file has none, for any other argument that googletest does not know, and in any case if a
// test stands in none of `files`, which are the names that ctest passes: it would run in a person's
// hands only. Returns 77, and runs nothing, where SPILLWAY_TURN says that it is not their turn.
int run_tests(int argc, char** argv, std::initializer_list<char const*> files);

}  // namespace spillway::test
