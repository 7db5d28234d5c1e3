#include "io/file/in_child.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <new>

#include "base/error.hpp"
#include "tests/support/resource_limit.hpp"

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

TEST(InChild, every_signal_of_a_crash_is_damage) {
  for (int const signal : {SIGBUS, SIGILL}) {
    auto const error = error_of([&] { return std::raise(signal), std::string(); });
    EXPECT_EQ(error.status(), Status::damaged);
    EXPECT_STREQ(error.what(), "file: damaged: reading it crashes");
  }
}

TEST(InChild, it_has_four_seconds_two_gibibytes_and_no_core) {
  auto const limits = in_child("file", [] {
    std::string text;
    for (auto const what : {RLIMIT_CPU, RLIMIT_CORE}) {
      rlimit limit{};
      ::getrlimit(what, &limit);
      text += fmt::format("{} {} ", limit.rlim_cur, limit.rlim_max);
    }
    return text;
  });
  EXPECT_EQ(limits, "4 5 0 0 ");
  auto const enough = in_child("file", [] {
    auto* const memory = ::operator new (std::size_t{1} << 30);
    static_cast<char*>(memory)[0] = 'x';
    std::string const text(static_cast<char const*>(memory), 1);
    ::operator delete(memory);
    return text;
  });
  EXPECT_EQ(enough, "x");
}

// They are for the parent, and so is the terminal.
TEST(InChild, what_asks_the_job_to_stop_does_not_end_it_and_it_prints_nothing) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  auto const text = in_child("file", [] {
    for (int const signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) std::raise(signal);
    for (int const stream : {1, 2}) {
      [[maybe_unused]] auto const written = ::write(stream, "said", 4);
    }
    char byte = 0;
    return ::read(0, &byte, 1) == 0 ? std::string("still here") : std::string("has our input");
  });
  EXPECT_EQ(testing::internal::GetCapturedStdout() + testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(text, "still here");
}

TEST(InChild, signals_that_its_parent_gets_meanwhile_are_no_end) {
  struct sigaction noted {
  }, before{};
  noted.sa_handler = [](int) {};  // without SA_RESTART
  ASSERT_EQ(::sigaction(SIGALRM, &noted, &before), 0);
  auto const text = in_child("file", [] {
    for (int i = 0; i < 200; ++i) {
      ::kill(::getppid(), SIGALRM);
      ::sched_yield();
    }
    return std::string(200'000, 'y');
  });
  ::sigaction(SIGALRM, &before, nullptr);
  EXPECT_EQ(text, std::string(200'000, 'y'));
}

TEST(InChild, without_descriptors_for_its_pipe_is_a_matter_of_storage) {
  auto const error = [] {
    test::ResourceLimit const none(RLIMIT_NOFILE, 0);
    return error_of([] { return std::string("text"); });
  }();
  EXPECT_EQ(error.status(), Status::storage);
  EXPECT_STREQ(error.what(), "file: no pipe to read it through: Too many open files");
}

}  // namespace
}  // namespace spillway::in_child_test
