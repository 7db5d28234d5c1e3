// Started without arguments it launches itself as several ranks, of which the last stops answering
// or is late.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "base/error.hpp"
#include "base/steady_clock.hpp"
#include "comm/gathered.hpp"
#include "comm/mpi_scope.hpp"

namespace spillway {
namespace {

using std::chrono::milliseconds;

constexpr double kPatience_s = 5;
// Where those that wait must be told from the one that is silent, on a busy machine.
constexpr double kLongPatience_s = 20;

// Both ranks, while the other one waits; returns when they go on.
void be_stopped_for(double seconds, std::vector<pid_t> const& pids) {
  pid_t const stopper = ::fork();
  if (stopper == 0) {
    std::this_thread::sleep_for(milliseconds(100));
    for (pid_t const pid : pids) ::kill(pid, SIGSTOP);
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    for (pid_t const pid : pids) ::kill(pid, SIGCONT);
    ::_exit(0);
  }
  ::waitpid(stopper, nullptr, 0);
}

void be_busy_for(double seconds, Comm& comm) {
  auto const begun = SteadyClock::now();
  while (seconds_since(begun) < seconds) {
    comm.still_here();
    std::this_thread::sleep_for(milliseconds(1));
  }
}

void be_late(std::string const& way, std::vector<pid_t> const& pids, Comm& comm) {
  if (way == "dead") ::_exit(9);
  while (way.starts_with("silent")) ::pause();  // until somebody gives up and ends all
  if (way == "stopped") be_stopped_for(4 * kPatience_s, pids);
  if (way == "busy") be_busy_for(4 * kPatience_s, comm);
}

// The last rank ends or falls silent; the others must get an error out of the collective, not hang
// in it.
int run_as_rank(int argc, char** argv, std::string const& way) {
  MpiScope const scope(argc, argv);
  auto const patience_s = way == "silent-for-long" ? kLongPatience_s : kPatience_s;
  auto const comm = make_world_comm({.patience_s = patience_s, .sign_s = kPatience_s / 20});
  auto const pids = gathered(*comm, ::getpid());
  try {
    if (comm->rank() == comm->size() - 1) be_late(way, pids, *comm);
    comm->agree(0);
  } catch (Error const& error) {
    std::fprintf(stderr, "rank %d: %s\n", comm->rank(), error.what());
    comm->abort(static_cast<int>(error.status()));
  }
  return 0;
}

std::string said_file() {
  return testing::TempDir() + "comm_lost_peer-" + std::to_string(::getpid()) + ".txt";
}

// The launcher's exit status.
int launch(char const* way, int ranks = 2) {
  auto const self = std::string("/proc/") + std::to_string(::getpid()) + "/exe";
  char path[4096] = {};
  if (::readlink(self.c_str(), path, sizeof path - 1) < 0) return -2;
  auto const command = std::string("exec " SPILLWAY_MPIEXEC " -n ") + std::to_string(ranks) + " " +
                       path + " " + way + " 2> " + said_file();
  pid_t const child = ::fork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(CommLostPeer, a_dead_rank_ends_the_other) {
  EXPECT_GT(launch("dead"), 0);
}

TEST(CommLostPeer, a_silent_rank_is_given_up_after_the_patience) {
  EXPECT_EQ(launch("silent"), static_cast<int>(Status::peer_lost));
}

// Most ranks wait for others that wait; who does not answer is named all the same.
TEST(CommLostPeer, the_silent_rank_is_named_not_those_that_wait_for_it) {
  EXPECT_EQ(launch("silent-for-long", 4), static_cast<int>(Status::peer_lost));
  std::ifstream file(said_file());
  std::string const said{std::istreambuf_iterator<char>(file), {}};
  std::remove(said_file().c_str());
  EXPECT_NE(said.find("no word from rank 3 for 20 s (run.peer_timeout)"), std::string::npos)
      << said;
  for (auto const* other : {"from rank 0", "from rank 1", "from rank 2", "rank 2, rank 3"})
    EXPECT_EQ(said.find(other), std::string::npos) << said;
}

TEST(CommLostPeer, time_in_which_all_were_stopped_is_not_silence) {
  EXPECT_EQ(launch("stopped"), 0);
}

TEST(CommLostPeer, a_busy_rank_that_says_so_is_not_given_up) {
  EXPECT_EQ(launch("busy"), 0);
}

}  // namespace
}  // namespace spillway

int main(int argc, char** argv) {
  if (argc == 2 && argv[1][0] != '-') return spillway::run_as_rank(argc, argv, argv[1]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
