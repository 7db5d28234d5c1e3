#include "base/cannot_start.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>
#include <vector>

#include "tests/support/few_threads.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::cannot_start_test {
namespace {

TEST(CannotStart, is_said_of_the_thread_that_is_one_too_many) {
  std::vector<std::jthread> threads;
  test::FewThreads const few(2);
  auto const start = [&] { threads.emplace_back([] {}); };
  std::promise<void> over;
  auto const wait = [&, end = over.get_future().share()] {
    threads.emplace_back([end] { end.wait(); });
  };
  EXPECT_EQ(test::refused_with([&] { start_threads(wait); }), "");
  EXPECT_EQ(test::refused_with([&] { start_threads(wait); }), "");
  EXPECT_EQ(test::refused_with([&] { start_threads(start); }), test::kNoThread);
  EXPECT_EQ(threads.size(), 2u);
  over.set_value();
}

TEST(CannotStart, leaves_alone_what_else_is_thrown_and_what_comes_back) {
  EXPECT_EQ(start_threads([] { return 7; }), 7);
  EXPECT_THROW(start_threads([] { throw std::logic_error("ours"); }), std::logic_error);
}

}  // namespace
}  // namespace spillway::cannot_start_test
