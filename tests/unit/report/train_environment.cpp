// What a run runs on, and what the job script calls it.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "device/host/host_device.hpp"
#include "kernels/host/kernels.hpp"
#include "kernels/host/scope.hpp"
#include "report/environment.hpp"
#include "tests/support/two_ranks.hpp"
#include "version.hpp"

namespace spillway::train_environment_test {
namespace {

using Json = nlohmann::json;

TEST(Environment, says_what_was_built_and_what_it_runs_on) {
  auto const comm = make_single_rank_comm();
  Arithmetic arithmetic;
  arithmetic.threads = 3;
  arithmetic.isa = "portable";
  auto const json = Json::parse(
      environment_json(host_names(*comm), arithmetic, {host_device(), host::kernels()}));
  EXPECT_EQ(json.at("version"), build::version);
  EXPECT_EQ(json.at("git"), build::git_hash);
  EXPECT_EQ(json.at("compiler"), build::compiler);
  EXPECT_EQ(json.at("flags"), build::flags);
  EXPECT_EQ(json.at("features"), build::features);
  EXPECT_TRUE(json.at("mpi").get<std::string>().find("MPI") != std::string::npos);
  EXPECT_EQ(json.at("ranks"), 1);
  EXPECT_EQ(json.at("threads"), 3);
  EXPECT_EQ(json.at("isa"), "portable");
  EXPECT_EQ(json.at("devices"), device_text());
  std::string host;
  std::getline(std::ifstream("/proc/sys/kernel/hostname"), host);
  EXPECT_EQ(json.at("hosts"), Json({host.substr(0, 63)}));
}

// Hosts may have any bytes as a name, and JSON has none that are no UTF-8.
TEST(Environment, names_the_hosts_of_all_ranks_in_their_order) {
  using HostName = std::array<char, 64>;
  test::TwoRanks comm(1, test::TwoRanks::On::two_nodes, [](std::span<std::byte> said) {
    test::change<HostName>(said, [](HostName) { return HostName{"node\xff"}; });
  });
  auto const json =
      Json::parse(environment_json(host_names(comm), {}, {host_device(), host::kernels()}));
  EXPECT_EQ(json.at("ranks"), 2);
  std::string host;
  std::getline(std::ifstream("/proc/sys/kernel/hostname"), host);
  EXPECT_EQ(json.at("hosts"), Json({"node\xef\xbf\xbd", host.substr(0, 63)}));
}

TEST(JobName, is_what_the_script_says) {
  setenv("SPILLWAY_JOB", "12.head.7", 1);
  EXPECT_EQ(job_name(), "12.head.7");
  unsetenv("SPILLWAY_JOB");
  EXPECT_EQ(job_name(), "");
}

}  // namespace
}  // namespace spillway::train_environment_test
