// What ranks of one node have that were all started alike.
#include <gtest/gtest.h>

#include <algorithm>

#include "comm/comm.hpp"
#include "job/cores.hpp"

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
    EXPECT_EQ(cores.part, std::vector(near.begin(), near.begin() + part));
  }
}

TEST(AssumedCores, of_one_rank_are_those_that_it_has) {
  auto const comm = make_single_rank_comm();
  auto const here = run_cores(*comm), assumed = assumed_cores(1);
  EXPECT_EQ(here.ranks, 1);
  EXPECT_EQ(here.node_ranks, 1);
  EXPECT_EQ(here.mine, assumed.mine);
  EXPECT_EQ(here.fewest, assumed.fewest);
  EXPECT_EQ(here.part, assumed.part);
  EXPECT_EQ(here.limit.threads, assumed.limit.threads);
}

// Each host counts its own.
TEST(OwnCores, are_shared_with_whom_the_mask_overlaps_in_any_word) {
  CoreShare share;
  share.host[0] = 'a';
  share.cores = 12;
  share.mask[0] = 1;
  share.mask[15] = 2;
  auto first_word = share, last_word = share, none = share, elsewhere = share;
  first_word.mask = {1};
  last_word.mask = {};
  last_word.mask[15] = 2;
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
