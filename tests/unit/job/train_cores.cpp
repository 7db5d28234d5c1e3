// What ranks of one node have that were all started alike.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <string>
#include <thread>
#include <tuple>

#include "base/affinity.hpp"
#include "comm/comm.hpp"
#include "job/cores.hpp"
#include "tests/support/two_ranks.hpp"

namespace spillway::train_cores_test {
namespace {

TEST(AssumedCores, are_divided_among_the_ranks_of_the_node) {
  auto const all = core_share().cores;
  auto const near = cores_by_place();
  for (std::int64_t const ranks : {1, 2, 3, 5000}) {
    auto const cores = assumed_cores(ranks);
    EXPECT_EQ(cores.ranks, ranks);
    EXPECT_EQ(cores.node_ranks, ranks);
    EXPECT_EQ(cores.mine, std::max<std::int64_t>(1, all / ranks));
    EXPECT_EQ(cores.fewest, cores.mine);
    EXPECT_EQ(cores.limit.threads, team_limit().threads);
    bool const are_parts = ranks > 1 && std::ssize(near) >= ranks && std::ssize(near) == all;
    auto const part = are_parts ? std::ssize(near) / ranks : 0;
    EXPECT_EQ(cores.exclusive_cores, std::vector(near.begin(), near.begin() + part));
  }
}

TEST(AssumedCores, of_one_rank_are_those_that_it_has) {
  auto const comm = make_single_rank_comm();
  auto const here = run_cores(*comm), assumed = assumed_cores(1);
  EXPECT_EQ(here.ranks, 1);
  EXPECT_EQ(here.node_ranks, 1);
  EXPECT_EQ(here.mine, assumed.mine);
  EXPECT_EQ(here.fewest, assumed.fewest);
  EXPECT_EQ(here.exclusive_cores, assumed.exclusive_cores);
  EXPECT_EQ(here.limit.threads, assumed.limit.threads);
}

TEST(CoreShare, is_of_the_cores_on_which_a_thread_may_run) {
  auto const all = cores_by_place();
  ASSERT_FALSE(all.empty());
  std::thread([&] {
    auto const core = static_cast<std::size_t>(all.back());
    stay_on(std::array{all.back()});
    auto const share = core_share();
    decltype(share.mask) mask{};
    mask[core / 64] = std::uint64_t{1} << core % 64;
    EXPECT_EQ(share.mask, mask);
    EXPECT_EQ(share.cores, 1);
    std::string host;
    std::getline(std::ifstream("/proc/sys/kernel/hostname"), host);
    EXPECT_EQ(share.host.data(), host.substr(0, 63));
  }).join();
}

TEST(CoresByPlace, have_the_cores_of_a_socket_and_the_threads_of_a_core_side_by_side) {
  auto const place = [](int core) {
    auto const folder = "/sys/devices/system/cpu/cpu" + std::to_string(core) + "/topology/";
    int socket = 0, unit = 0;
    std::ifstream(folder + "physical_package_id") >> socket;
    std::ifstream(folder + "core_id") >> unit;
    return std::tuple(socket, unit, core);
  };
  auto const cores = cores_by_place();
  for (std::size_t i = 1; i < cores.size(); ++i) EXPECT_LT(place(cores[i - 1]), place(cores[i]));
}

// The other rank is on a host of its own, has no core and may start one thread.
TEST(RunCores, are_those_of_this_rank_and_the_least_that_any_has) {
  test::TwoRanks comm(1, test::TwoRanks::On::two_nodes, [](std::span<std::byte> said) {
    test::change<CoreShare>(said, [](CoreShare share) {
      share.host[0] ^= 1;
      return share;
    });
    test::change<std::int64_t>(said, [](std::int64_t) { return 0; });
    test::change<TeamLimit>(said, [](TeamLimit) {
      return TeamLimit{1, TeamLimiter::active_levels};
    });
  });
  auto const cores = run_cores(comm);
  EXPECT_EQ(cores.ranks, 2);
  EXPECT_EQ(cores.node_ranks, 1);
  EXPECT_EQ(cores.mine, core_share().cores);
  EXPECT_EQ(cores.fewest, 0);
  EXPECT_TRUE(cores.exclusive_cores.empty());
  EXPECT_EQ(cores.limit.threads, 1);
  EXPECT_EQ(cores.limit.by, TeamLimiter::active_levels);
}

TEST(RunCores, of_a_node_are_parted_as_those_are_that_were_assumed) {
  test::TwoRanks comm(1, test::TwoRanks::On::one_node, [](std::span<std::byte> said) {
    test::change<std::int64_t>(said, [](std::int64_t mine) { return mine + 1; });
  });
  auto const cores = run_cores(comm), assumed = assumed_cores(2);
  EXPECT_EQ(cores.node_ranks, 2);
  EXPECT_EQ(cores.mine, assumed.mine);
  EXPECT_EQ(cores.fewest, assumed.mine) << "the other one has more";
  auto const near = cores_by_place();
  auto const each = assumed.exclusive_cores.size();
  EXPECT_EQ(cores.exclusive_cores,
            std::vector(near.begin() + static_cast<std::ptrdiff_t>(each),
                        near.begin() + static_cast<std::ptrdiff_t>(2 * each)))
      << "the second part";
}

// Each host counts its own.
TEST(OwnCores, are_shared_with_whom_the_mask_overlaps_in_any_word) {
  CoreShare share;
  share.host[0] = 'a';
  share.cores = 12;
  share.mask[0] = 1;
  share.mask.back() = 2;
  auto first_word = share, last_word = share, none = share, elsewhere = share;
  first_word.mask = {1};
  last_word.mask = {};
  last_word.mask.back() = 2;
  none.mask = {2};
  elsewhere.host[0] = 'b';
  CoreShare const all[] = {share, first_word, last_word, none, elsewhere};
  EXPECT_EQ(own_cores(all, 0), 4);
  EXPECT_EQ(own_cores(all, 1), 6);
  EXPECT_EQ(own_cores(all, 2), 6);
  EXPECT_EQ(own_cores(all, 3), 12);
  EXPECT_EQ(own_cores(all, 4), 12);
}

}  // namespace
}  // namespace spillway::train_cores_test
