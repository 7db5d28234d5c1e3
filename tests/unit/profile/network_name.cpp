// What is measured of a network is kept under the names of its nodes.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <regex>
#include <string>

#include "comm/comm.hpp"
#include "profile/network_probe.hpp"

namespace spillway::network_name_test {
namespace {

TEST(NetworkName, counts_ranks_and_nodes) {
  auto const comm = make_single_rank_comm();
  auto const name = network_name(*comm);
  EXPECT_TRUE(std::regex_match(name, std::regex("1 ranks on 1 nodes, [0-9a-f]{16}"))) << name;
}

TEST(NetworkName, is_another_one_where_the_end_of_a_node_s_name_is) {
  if (::unshare(CLONE_NEWUTS) != 0) GTEST_SKIP() << "a name of its own is for root alone";
  auto const comm = make_single_rank_comm();
  auto const named = [&](std::string const& host) {
    EXPECT_EQ(::sethostname(host.data(), host.size()), 0);
    return network_name(*comm);
  };
  auto const first = named("node-of-a-large-cluster-0001");
  EXPECT_NE(named("node-of-a-large-cluster-0002"), first);
  EXPECT_EQ(named("node-of-a-large-cluster-0001"), first);
}

}  // namespace
}  // namespace spillway::network_name_test
