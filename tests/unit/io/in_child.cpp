#include "io/file/in_child.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <new>

#include "base/error.hpp"

namespace spillway::in_child_test {
namespace {

Error error_of(std::function<std::string()> const& work) {
  try {
    in_child("file", work);
  } catch (Error const& error) {
    return error;
  }
  return {Status::done, "no error"};
}

TEST(InChild, a_text_of_any_length_comes_back_and_nothing_else_changes) {
  int value = 1;
  auto const text = std::string(300'000, 'x') + '\0' + "end";
  EXPECT_EQ(in_child("file", [&] { return value = 2, text; }), text);
  EXPECT_EQ(in_child("file", [] { return std::string(); }), "");
  EXPECT_EQ(value, 1);
}

TEST(InChild, an_error_is_thrown_again) {
  auto const error = error_of([]() -> std::string { throw Error(Status::bad_input, "why"); });
  EXPECT_EQ(error.status(), Status::bad_input);
  EXPECT_STREQ(error.what(), "why");
}

TEST(InChild, what_crashes_loops_grows_or_ends_is_damage) {
  auto const expect = [](char const* what, std::function<std::string()> const& work) {
    auto const error = error_of(work);
    EXPECT_EQ(error.status(), Status::damaged);
    EXPECT_STREQ(error.what(), what);
  };
  expect("file: damaged: reading it crashes", []() -> std::string { ::_exit(0); });
  for (int const signal : {SIGSEGV, SIGABRT, SIGFPE}) {
    expect("file: damaged: reading it crashes", [&] { return std::raise(signal), std::string(); });
  }
  expect("file: damaged: reading it comes to no end", []() -> std::string {
    for (std::atomic<int> i = 0;; ++i) {
    }
  });
  expect("file: damaged (std::bad_alloc)", [] {
    auto const most = std::size_t{3} << 30;
    return std::string(static_cast<char const*>(::operator new(most)), 1);
  });
}

}  // namespace
}  // namespace spillway::in_child_test
