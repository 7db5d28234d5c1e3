#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include "train/signals.hpp"

namespace spillway {
namespace {

bool is_blocked(int signal) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&blocked, signal) == 1;
}

// Exit status 0: taken, and by none of the threads that compute.
[[noreturn]] void take(int signal) {
  install_stop_signals();
  bool theirs = false;
  std::thread([&] { theirs = is_blocked(signal); }).join();
  if (!theirs || !is_blocked(signal)) std::_Exit(1);
  if (stop_requested()) std::_Exit(2);
  ::kill(::getpid(), signal);
  while (!stop_requested()) std::this_thread::yield();
  std::_Exit(0);
}

[[noreturn]] void ignore_hangups() {
  std::signal(SIGHUP, SIG_IGN);
  install_stop_signals();
  ::raise(SIGHUP);
  std::_Exit(stop_requested() || is_blocked(SIGHUP) ? 1 : 0);
}

TEST(Signals, are_taken_by_a_thread_of_their_own) {
  for (int const signal : {SIGINT, SIGTERM, SIGUSR1, SIGHUP})
    EXPECT_EXIT(take(signal), ::testing::ExitedWithCode(0), "") << signal;
}

TEST(Signals, a_hangup_that_is_ignored_stays_so) {
  EXPECT_EXIT(ignore_hangups(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace spillway
