#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <thread>

#include "base/ignored_signal.hpp"
#include "job/signals.hpp"

namespace spillway::train_signals_test {
namespace {

bool is_blocked(int signal) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 1;
}

// Exit status 0: taken, and by none of the threads that compute.
[[noreturn]] void take(int signal) {
  install_stop_signals();
  if (!is_ignored(SIGXFSZ)) std::_Exit(3);  // a file that is too large is a full disk
  bool theirs = false;
  std::thread([&] { theirs = is_blocked(signal); }).join();
  if (!theirs || !is_blocked(signal)) std::_Exit(1);
  if (stop_requested()) std::_Exit(2);
  ::kill(::getpid(), signal);
  while (!stop_requested()) std::this_thread::yield();
  std::_Exit(0);
}

[[noreturn]] void start_ignoring(int signal) {
  std::signal(signal, SIG_IGN);
  install_stop_signals();
  ::kill(::getpid(), signal);
  bool const is_taken = stop_requested() || is_blocked(signal);
  std::_Exit(is_ignored(signal) && !is_taken ? 0 : 1);
}

[[noreturn]] void take_though_ignored(int signal) {
  std::signal(signal, SIG_IGN);
  take(signal);
}

TEST(Signals, are_taken_by_a_thread_of_their_own) {
  for (int const signal : {SIGINT, SIGTERM, SIGUSR1, SIGHUP})
    EXPECT_EXIT(take(signal), ::testing::ExitedWithCode(0), "") << signal;
}

TEST(Signals, those_of_terminals_that_are_ignored_stay_so) {
  for (int const signal : {SIGINT, SIGHUP})
    EXPECT_EXIT(start_ignoring(signal), ::testing::ExitedWithCode(0), "") << signal;
}

TEST(Signals, those_of_batch_systems_are_taken_though_they_were_ignored) {
  for (int const signal : {SIGTERM, SIGUSR1})
    EXPECT_EXIT(take_though_ignored(signal), ::testing::ExitedWithCode(0), "") << signal;
}

TEST(Signals, end_a_run_at_once_where_the_first_one_comes_again_seconds_later) {
  constexpr std::int64_t begin_ns = 10'990'000'000, two_s = 2'000'000'000;
  EXPECT_FALSE(ends_at_once(0, 0, SIGTERM, begin_ns)) << "there was none";
  EXPECT_FALSE(ends_at_once(SIGINT, begin_ns, SIGINT, begin_ns));
  EXPECT_FALSE(ends_at_once(SIGINT, begin_ns, SIGINT, begin_ns + two_s - 1))
      << "one Ctrl-C may come twice";
  EXPECT_TRUE(ends_at_once(SIGINT, begin_ns, SIGINT, begin_ns + two_s));
  EXPECT_FALSE(ends_at_once(SIGUSR1, begin_ns, SIGTERM, 100 * two_s)) << "batch systems send both";
}

}  // namespace
}  // namespace spillway::train_signals_test
