// Started without arguments it launches itself as two ranks, of which one stops answering.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "comm/mpi_scope.hpp"

namespace spillway {
namespace {

using std::chrono::milliseconds;

// Rank 1 ends or falls silent; rank 0 must get an error out of the collective, not hang in it.
int run_as_rank(int argc, char** argv, std::string const& way) {
  MpiScope const scope(argc, argv);
  auto const comm = make_world_comm({.patience_s = 0.5});
  if (comm->rank() == 1) {
    if (way == "dead") ::_exit(9);
    std::this_thread::sleep_for(std::chrono::seconds(60));
  }
  try {
    comm->agree(0);
  } catch (Error const& error) {
    comm->abort(static_cast<int>(error.status()));
  }
  return 0;
}

// The launcher's exit status, or -1 when it had to be killed.
int launch(char const* way) {
  auto const self = std::string("/proc/") + std::to_string(::getpid()) + "/exe";
  char path[4096] = {};
  if (::readlink(self.c_str(), path, sizeof path - 1) < 0) return -2;
  auto const command = std::string("exec " SPILLWAY_MPIEXEC " -n 2 ") + path + " " + way;
  pid_t const child = ::fork();
  if (child == 0) {
    ::execl("/bin/sh", "sh", "-c", command.c_str(), nullptr);
    ::_exit(127);
  }
  for (int waited_ms = 0; waited_ms < 25000; waited_ms += 50) {
    int status = 0;
    if (::waitpid(child, &status, WNOHANG) == child) {
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    std::this_thread::sleep_for(milliseconds(50));
  }
  ::kill(child, SIGTERM);
  ::waitpid(child, nullptr, 0);
  return -1;
}

TEST(CommLostPeer, ADeadRankEndsTheOther) {
  EXPECT_GT(launch("dead"), 0);
}

TEST(CommLostPeer, ASilentRankIsGivenUpAfterThePatience) {
  EXPECT_EQ(launch("silent"), static_cast<int>(Status::peer_lost));
}

}  // namespace
}  // namespace spillway

int main(int argc, char** argv) {
  if (argc == 2 && argv[1][0] != '-') return spillway::run_as_rank(argc, argv, argv[1]);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
