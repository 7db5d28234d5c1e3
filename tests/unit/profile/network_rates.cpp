// What is measured of a network where the other rank is by far the slower one.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "profile/network_probe.hpp"
#include "tests/support/two_ranks.hpp"

namespace spillway::network_rates_test {
namespace {

using test::TwoRanks, test::change;

struct Measured {
  Machine machine;
  int exchanges = 0;
};

// The other rank says such times, so long that none of this one counts: of two exchanges that show
// how long one has to be, and of five whose median is 3e6 s.
Measured measured(int rank, TwoRanks::On nodes) {
  constexpr std::array times = {9e6, 1e6, 5e6, 1e6, 2e6, 9e6, 3e6};
  constexpr std::size_t least_bytes = std::size_t{1} << 18;
  Measured result;
  bool has_said_its_node = false;
  std::size_t round = 0;
  TwoRanks comm(rank, nodes, [&](std::span<std::byte> said) {
    result.exchanges += said.size() == least_bytes;
    change<double>(said, [&](double) { return times.at(round++); });
    if (said.size() != sizeof(int) || has_said_its_node) return;
    change<int>(said, [&](int) { return nodes == TwoRanks::On::one_node ? 0 : 1 - rank; });
    has_said_its_node = true;
  });
  probe_network(result.machine, comm);
  return result;
}

TEST(NetworkRates, are_of_the_median_exchange_of_the_slower_rank) {
  constexpr double kRate = 8.738133333333334e-11;  // 256 KiB in 3e6 s
  for (int const rank : {0, 1}) {
    auto const near = measured(rank, TwoRanks::On::one_node);
    EXPECT_DOUBLE_EQ(near.machine.node_gbps, kRate);
    EXPECT_EQ(near.machine.network_gbps, 0);
    EXPECT_EQ(near.exchanges, 7);
    auto const far = measured(rank, TwoRanks::On::two_nodes);
    EXPECT_EQ(far.machine.node_gbps, 0);
    EXPECT_DOUBLE_EQ(far.machine.network_gbps, kRate);
    EXPECT_EQ(far.exchanges, 7);
  }
}

TEST(NetworkName, tells_ranks_from_nodes_and_the_hosts_of_all_ranks) {
  auto const named = [](TwoRanks::On nodes, char last) {
    TwoRanks comm(0, nodes, [&](std::span<std::byte> said) {
      using HostName = std::array<char, 64>;
      change<HostName>(said, [&](HostName) { return HostName{'n', 'o', 'd', 'e', last}; });
      change<int>(said, [&](int) { return nodes == TwoRanks::On::one_node ? 0 : 1; });
    });
    return network_name(comm);
  };
  auto const name = named(TwoRanks::On::two_nodes, '1');
  EXPECT_TRUE(name.starts_with("2 ranks on 2 nodes, ")) << name;
  EXPECT_EQ(named(TwoRanks::On::two_nodes, '1'), name);
  EXPECT_NE(named(TwoRanks::On::two_nodes, '2'), name);
  auto const near = named(TwoRanks::On::one_node, '1');
  EXPECT_TRUE(near.starts_with("2 ranks on 1 nodes, ")) << near;
}

}  // namespace
}  // namespace spillway::network_rates_test
