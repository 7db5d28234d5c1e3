#include "tests/support/run_tests.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tests/support/sample.hpp"

namespace spillway::test {
namespace {

constexpr int kSkipped = 77;

std::string (*g_why_skipped)() = nullptr;

std::string file_of(testing::TestInfo const& test) {
  return std::filesystem::path(test.file()).stem().string();
}

template <class Visit>
void for_each_test(Visit const& visit) {
  auto const& all = *testing::UnitTest::GetInstance();
  for (int s = 0; s < all.total_test_suite_count(); ++s) {
    auto const& suite = *all.GetTestSuite(s);
    for (int t = 0; t < suite.total_test_count(); ++t) visit(*suite.GetTestInfo(t));
  }
}

// Returns a googletest filter for the tests of a file, which is empty if there are none.
std::string filter_of(std::string_view file) {
  std::string filter;
  for_each_test([&](testing::TestInfo const& test) {
    if (file_of(test) != file) return;
    if (!filter.empty()) filter += ':';
    filter += std::string(test.test_suite_name()) + '.' + test.name();
  });
  return filter;
}

bool all_stand_in(std::initializer_list<char const*> files) {
  bool all = true;
  for_each_test([&](testing::TestInfo const& test) {
    if (std::ranges::find(files, file_of(test)) != files.end()) return;
    std::cerr << test.file() << ": " << test.test_suite_name() << '.' << test.name()
              << " would not be run by ctest\n";
    all = false;
  });
  return all;
}

// SPILLWAY_TURN=k/n means that this is the k-th of n test files that take turns, from 0. Returns
// true if the variable is not set, and nothing if it is malformed.
std::optional<bool> is_its_turn() {
  auto const* const asked = std::getenv("SPILLWAY_TURN");
  if (asked == nullptr) return true;
  auto const result = is_turn(asked);
  if (!result)
    std::cerr << "SPILLWAY_TURN: expected k/n, the k-th of n from 0, got '" << asked << "'\n";
  return result;
}

}  // namespace

bool skip_all_tests_if(std::string (*why)()) {
  g_why_skipped = why;
  return true;
}

int run_tests(int argc, char** argv, std::initializer_list<char const*> files) {
  take_shard();
  testing::InitGoogleTest(&argc, argv);  // removes googletest's own arguments
  if (!all_stand_in(files)) return 1;
  auto const turn = is_its_turn();
  if (!turn) return 1;
  if (!*turn) {
    std::cout << "other tests have their turn in this sample\n";
    return kSkipped;
  }
  constexpr std::string_view option = "--file=";
  for (std::string_view const argument :
       std::span(argv, static_cast<std::size_t>(argc)).subspan(1)) {
    if (argument == "--help") continue;
    if (!argument.starts_with(option)) {
      std::cerr << argument << ": neither --file=NAME nor a flag of googletest's\n";
      return 1;
    }
    if (GTEST_FLAG_GET(filter) != "*") continue;
    GTEST_FLAG_SET(filter, filter_of(argument.substr(option.size())));
    if (!GTEST_FLAG_GET(filter).empty()) continue;
    std::cerr << argument << ": no test stands there\n";
    return 1;
  }
  if (auto const why = g_why_skipped != nullptr ? g_why_skipped() : ""; !why.empty()) {
    std::cout << "skipped: " << why << '\n';
    return kSkipped;
  }
  return run_chosen_tests();
}

}  // namespace spillway::test
