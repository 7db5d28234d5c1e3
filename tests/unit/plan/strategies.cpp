// What a strategy makes of the choices that a user left open, and which of two candidates is
// better.
#include <gtest/gtest.h>

#include <algorithm>

#include "plan/search/candidate.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/small_machine.hpp"

namespace spillway::test::strategies_test {
namespace {

constexpr auto kDevice = Tier::device, kHost = Tier::host, kNvme = Tier::nvme;
constexpr std::int64_t kPlenty = std::int64_t{1} << 40;
constexpr Budgets kRoomy = {kPlenty, kPlenty, kPlenty};

using Tiers = std::vector<Tier>;
using Policies = std::vector<BlockPolicy>;

Policies all_policies() {
  Policies policies;
  for (PolicyRow const& row : kPolicyTable) policies.push_back(row.policy);
  return policies;
}

// Blocks 1 to 4 are layers. Chunks 2 to 5 are theirs, and chunk 6 is the head's.
class Strategies : public testing::Test {
 protected:
  static constexpr int kChunks = 7;

  OpenPlan open(PlanWords const& words = {}, bool unified = true) const {
    return open_plan(m_graph, words, unified);
  }
  // The plan of a strategy that moves state.
  Plan moved(OpenPlan const& open, Budgets const& budgets, StateMoves const& moves,
             std::int64_t host_bytes = 0) const {
    Strategy strategy;
    strategy.moves = moves;
    strategy.host_bytes = host_bytes;
    return StrategySpace(m_estimator, open, budgets).plan_of(strategy);
  }
  std::int64_t optimizer_bytes(int chunk) const { return m_model.chunks[chunk].optimizer_bytes; }

  Graph m_graph = gpt_training_graph(
      {.layers = 4, .hidden = 64, .heads = 4, .vocab = 211, .sequence = 64, .micro = 2});
  Machine m_machine = small_machine_with_drive(1);
  BlockModel m_model = block_model(m_graph, m_machine, all_policies());
  Estimator m_estimator{m_model, m_machine, 1};
};

Tiers places(Plan const& plan, Tier ChunkPlan::*place) {
  Tiers result;
  for (ChunkPlan const& chunk : plan.chunks) result.push_back(chunk.*place);
  return result;
}

// The first `count` of seven chunks, or the last if `from_back`, are in tier `away`.
Tiers away(Tier tier, int count, bool from_back) {
  Tiers result(7, kDevice);
  for (int i = 0; i < count; ++i) result[static_cast<std::size_t>(from_back ? 6 - i : i)] = tier;
  return result;
}

TEST_F(Strategies, move_state_to_the_host_while_it_has_room_and_then_to_the_drive) {
  ASSERT_EQ(m_model.chunks.size(), 7u);
  auto const room_bytes = optimizer_bytes(6) + optimizer_bytes(5);
  auto const all = open();
  EXPECT_EQ(places(moved(all, kRoomy, {.count = 3}, room_bytes), &ChunkPlan::optimizer),
            (Tiers{kDevice, kDevice, kDevice, kDevice, kNvme, kHost, kHost}));
  EXPECT_EQ(places(moved(all, kRoomy, {.count = 3}, room_bytes - 1), &ChunkPlan::optimizer),
            (Tiers{kDevice, kDevice, kDevice, kDevice, kNvme, kNvme, kHost}));
  EXPECT_EQ(places(moved(all, kRoomy, {.drive_only = true, .count = 2}, room_bytes),
                   &ChunkPlan::optimizer),
            away(kNvme, 2, true));
}

TEST_F(Strategies, move_state_to_the_only_other_tier_there_is) {
  EXPECT_EQ(places(moved(open(), {kPlenty, 0, kPlenty}, {.count = 2}), &ChunkPlan::optimizer),
            away(kNvme, 2, true));
  EXPECT_EQ(places(moved(open(), {kPlenty, kPlenty, 0}, {.count = 2}), &ChunkPlan::optimizer),
            away(kHost, 2, true))
      << "even where it has no room";
}

TEST_F(Strategies, move_parameters_after_all_optimizer_state_and_each_from_its_own_end) {
  for (bool const from_back : {false, true}) {
    for (bool const parameters_from_back : {false, true}) {
      auto const plan = moved(open(), kRoomy, {from_back, parameters_from_back, true, kChunks + 2});
      EXPECT_EQ(places(plan, &ChunkPlan::optimizer), away(kNvme, kChunks, true));
      EXPECT_EQ(places(plan, &ChunkPlan::parameters), away(kNvme, 2, parameters_from_back));
    }
    EXPECT_EQ(places(moved(open(), kRoomy, {from_back, true, true, 3}), &ChunkPlan::optimizer),
              away(kNvme, 3, from_back));
  }
}

// Room for the parameters of two chunks: optimizer state, which moves first, leaves too little.
TEST_F(Strategies, give_room_on_the_host_to_parameters_or_to_optimizer_state_first) {
  auto const& chunks = m_model.chunks;
  auto const room_bytes = chunks[6].home_bytes + chunks[5].home_bytes;
  StateMoves moves{.count = kChunks + 2, .parameters_near = true};
  auto const near = moved(open(), kRoomy, moves, room_bytes);
  EXPECT_EQ(places(near, &ChunkPlan::parameters), away(kHost, 2, true));
  EXPECT_EQ(places(near, &ChunkPlan::optimizer), away(kNvme, kChunks, true));
  moves.parameters_near = false;
  auto const far = moved(open(), kRoomy, moves, room_bytes);
  EXPECT_EQ(far.chunks[6].optimizer, kHost);
  EXPECT_EQ(far.chunks[5].parameters, kNvme);
}

TEST_F(Strategies, move_parameters_before_optimizer_state_or_after_it) {
  StateMoves const moves{.count = kChunks + 2, .parameters_first = true};
  auto const plan = moved(open(), {kPlenty, 0, kPlenty}, moves);
  EXPECT_EQ(places(plan, &ChunkPlan::parameters), away(kNvme, kChunks, true));
  EXPECT_EQ(places(plan, &ChunkPlan::optimizer), away(kNvme, 2, true));
}

TEST_F(Strategies, sum_gradients_where_they_are_updated_or_on_the_device) {
  Budgets const two_memories = {kPlenty, kPlenty, 0};
  auto const all = open({}, false);
  auto const near = moved(all, two_memories, {.count = 2});
  auto const far = moved(all, two_memories, {.count = 2, .sums = Sums::device});
  EXPECT_EQ(places(near, &ChunkPlan::gradients), away(kHost, 2, true));
  EXPECT_EQ(places(far, &ChunkPlan::gradients), away(kHost, 0, true));
  EXPECT_EQ(places(far, &ChunkPlan::update), away(kHost, 2, true));
}

// With a chunk's state on the host stay its gradients, which take room there. The first chunk's
// parameters are used twice.
TEST_F(Strategies, sum_gradients_on_the_drive_beside_optimizer_state) {
  StateMoves const moves{.count = kChunks, .sums = Sums::drive};
  auto const all = open({}, false);
  auto const state_bytes = optimizer_bytes(6);
  auto const gradient_bytes = m_model.chunks[6].held_gradient_bytes;
  auto const one = moved(all, kRoomy, moves, state_bytes + gradient_bytes);
  auto beside = away(kNvme, kChunks, true);
  beside[6] = kHost;
  EXPECT_EQ(places(one, &ChunkPlan::optimizer), beside);
  beside[0] = kHost;
  EXPECT_EQ(places(one, &ChunkPlan::gradients), beside);
  auto const none = moved(all, kRoomy, moves, state_bytes + gradient_bytes - 1);
  EXPECT_EQ(none.chunks[6].optimizer, kNvme);
  auto const of_one_memory = moved(open(), kRoomy, moves);
  beside = away(kNvme, kChunks, true);
  beside[0] = kDevice;
  EXPECT_EQ(places(of_one_memory, &ChunkPlan::gradients), beside);
  auto const forced = moved(open({.gradients = {"device"}}, false), kRoomy, moves);
  EXPECT_EQ(places(forced, &ChunkPlan::gradients), away(kNvme, 0, true));
}

TEST_F(Strategies, have_as_many_ways_to_move_state_as_the_user_has_left_open) {
  auto const ways = [&](PlanWords const& words, bool unified) {
    auto const open = this->open(words, unified);
    return StrategySpace(m_estimator, open, kRoomy).ways_to_move().size();
  };
  EXPECT_EQ(ways({}, false), 4u);
  EXPECT_EQ(ways({}, true), 2u);
  EXPECT_EQ(ways({.parameters = {"host"}}, false), 2u);
  EXPECT_EQ(ways({.gradients = {"device"}}, false), 2u);
  EXPECT_EQ(ways({.parameters = {"host"}, .gradients = {"device"}}, false), 1u);
  EXPECT_EQ(ways({.optimizer = {"host"}}, false), 2u) << "sums are still made on either";
  auto all = open({}, false);
  all.sums_on_drive = true;
  auto const to_drive = StrategySpace(m_estimator, all, kRoomy).ways_to_move();
  ASSERT_EQ(to_drive.size(), 1u);
  EXPECT_EQ(to_drive[0].sums, Sums::drive);
}

TEST_F(Strategies, move_nothing_that_the_user_placed_and_nothing_where_no_other_tier_is) {
  auto const some = open({.activations = {"keep", "auto"},
                          .parameters = {"auto", "device"},
                          .optimizer = {"device", "device", "auto"}});
  StrategySpace const space(m_estimator, some, kRoomy);
  EXPECT_EQ(space.layers(), 3);
  EXPECT_EQ(space.optimizers(), 5);
  EXPECT_EQ(space.most_moves(), 6);
  EXPECT_EQ(places(moved(some, kRoomy, {.drive_only = true, .count = 100}), &ChunkPlan::optimizer),
            away(kNvme, 5, true));
  StrategySpace const alone(m_estimator, some, {kPlenty, 0, 0});
  EXPECT_EQ(alone.most_moves(), 0);
  EXPECT_EQ(alone.layers(), 3);
}

// Updates follow the optimizer state, and gradients the updates where the device has its own
// memory and there is a host tier.
TEST_F(Strategies, put_updates_and_gradients_where_state_went) {
  constexpr auto update = &ChunkPlan::update, gradients = &ChunkPlan::gradients;
  auto const none = away(kHost, 0, true), two = away(kHost, 2, true);
  auto const own_memory = open({}, false);
  auto const plan = moved(own_memory, kRoomy, {.count = 2}, kPlenty);
  EXPECT_EQ(places(plan, update), two);
  EXPECT_EQ(places(plan, gradients), two);
  auto const on_device = moved(own_memory, kRoomy, {.count = 2, .device_updates = true}, kPlenty);
  EXPECT_EQ(places(on_device, update), none);
  EXPECT_EQ(places(on_device, gradients), none);
  auto const no_host = moved(own_memory, {kPlenty, 0, kPlenty}, {.count = 2});
  EXPECT_EQ(places(no_host, update), two);
  EXPECT_EQ(places(no_host, gradients), none);
  auto const unified = moved(open(), kRoomy, {.count = 2}, kPlenty);
  EXPECT_EQ(places(unified, update), two);
  EXPECT_EQ(places(unified, gradients), none);
}

TEST_F(Strategies, leave_updates_and_gradients_where_the_user_put_them) {
  auto const updates = moved(open({.update = {"device"}}, false), kRoomy, {.count = 2}, kPlenty);
  EXPECT_EQ(places(updates, &ChunkPlan::update), away(kHost, 0, true));
  EXPECT_EQ(places(updates, &ChunkPlan::gradients), away(kHost, 0, true));
  auto const gradients =
      moved(open({.gradients = {"device"}}, false), kRoomy, {.count = 2}, kPlenty);
  EXPECT_EQ(places(gradients, &ChunkPlan::update), away(kHost, 2, true));
  EXPECT_EQ(places(gradients, &ChunkPlan::gradients), away(kHost, 0, true));
}

TEST_F(Strategies, give_up_redo_only_for_updates_on_the_host_that_need_not_wait_for_the_norm) {
  auto const free = open({.norm_is_awaited = false}), bound = open();
  EXPECT_FALSE(moved(free, kRoomy, {.count = 1}).redo);
  EXPECT_TRUE(moved(free, kRoomy, {.count = 0}).redo);
  EXPECT_TRUE(moved(free, kRoomy, {.count = 1, .device_updates = true}).redo);
  EXPECT_TRUE(moved(bound, kRoomy, {.count = 1}).redo);
}

// Of one update none is early with 80 in a hundred as with 20; of four, three are or none.
TEST_F(Strategies, count_early_updates_alike_if_the_same_ones_are_early) {
  auto const asked = open(PlanWords{.norm_is_awaited = false}, false);
  StrategySpace const space(m_estimator, asked, kRoomy);
  auto const early = [&](int count, std::int64_t percent) {
    Strategy strategy;
    strategy.moves.count = count;
    strategy.early = percent;
    strategy.host_bytes = kPlenty;
    return space.plan_of(strategy).early;
  };
  EXPECT_EQ(early(1, 20), early(1, 80));
  EXPECT_NE(early(1, 100), early(1, 80));
  EXPECT_NE(early(4, 20), early(4, 80));
}

TEST_F(Strategies, spill_nothing_of_the_last_layer) {
  auto const policies = [&](OpenPlan const& open, Strategy const& strategy) {
    std::string letters;
    for (BlockPlan const& block : StrategySpace(m_estimator, open, kRoomy).plan_of(strategy).blocks)
      letters += row(block.policy).letter;
    return letters;
  };
  Strategy spilled;
  spilled.mix = {BlockPolicy::light_host, BlockPolicy::light_host, BlockPolicy::keep, 1, 1, 4};
  EXPECT_EQ(policies(open(), spilled), "KhhhkK");
  EXPECT_EQ(policies(open({.activations = {"auto", "auto", "auto", "recompute"}}), spilled),
            "KhhhRK");
  Strategy own;
  own.own = {{BlockPolicy::recompute, 1},
             {BlockPolicy::nvme, 1},
             {BlockPolicy::light, 1},
             {BlockPolicy::nvme, 1}};
  EXPECT_EQ(policies(open(), own), "KRNkKK");
}

Strategy of_moves(int count) {
  Strategy result;
  result.moves.count = count;
  return result;
}

TEST_F(Strategies, guess_how_many_moves_free_so_many_bytes) {
  auto const all = open();
  StrategySpace const space(m_estimator, all, kRoomy);
  auto const b6 = optimizer_bytes(6), b5 = optimizer_bytes(5), b4 = optimizer_bytes(4);
  EXPECT_EQ(space.moves_for(0, of_moves(0)), 0);
  EXPECT_EQ(space.moves_for(1, of_moves(0)), 1);
  EXPECT_EQ(space.moves_for(b6 + b5, of_moves(0)), 2);
  EXPECT_EQ(space.moves_for(b6 + b5 + 1, of_moves(0)), 3);
  EXPECT_EQ(space.moves_for(b5, of_moves(1)), 2);
  EXPECT_EQ(space.moves_for(-b4, of_moves(3)), 2);
  EXPECT_EQ(space.moves_for(-b4 + 1, of_moves(3)), 3);
  EXPECT_EQ(space.moves_for(-kPlenty, of_moves(3)), 0);
  EXPECT_EQ(space.moves_for(kPlenty, of_moves(0)), 2 * kChunks);
}

TEST_F(Strategies, find_room_beside_the_activations_on_the_host) {
  constexpr std::int64_t gib = std::int64_t{1} << 30;
  auto const all = open();
  Strategy strategy;
  strategy.mix = {BlockPolicy::host, BlockPolicy::host, BlockPolicy::keep, 1, 1, 2};
  auto const room_bytes = [&](Budgets const& budgets, int moves) {
    strategy.moves.count = moves;
    strategy.host_bytes = 5;
    StrategySpace(m_estimator, all, budgets).find_room(strategy);
    return strategy.host_bytes;
  };
  std::int64_t away_bytes = 0;
  for (int const block : {1, 2})
    away_bytes += m_model.blocks[block].policies[BlockPolicy::host].away_bytes;
  ASSERT_GT(away_bytes, 0);
  EXPECT_EQ(room_bytes({kPlenty, gib, kPlenty}, 1), gib - away_bytes);
  EXPECT_EQ(room_bytes({kPlenty, gib, kPlenty}, 0), 0);
  EXPECT_EQ(room_bytes({kPlenty, 0, kPlenty}, 1), 0);
}

// The last layer's activations stay, so its policy needs a cost, too.
TEST_F(Strategies, know_the_policies_that_the_user_asked_for_and_those_that_budgets_allow) {
  using enum BlockPolicy;
  EXPECT_EQ(policies_within(open({.activations = {"light+nvme"}}), kRoomy),
            (Policies{keep, light_nvme, light}));
  EXPECT_EQ(policies_within(open(), {kPlenty, 0, kPlenty}),
            (Policies{keep, light, recompute, nvme, light_nvme, recompute_nvme}));
  EXPECT_EQ(policies_within(open(), {kPlenty, 0, 0}), (Policies{keep, light, recompute}));
}

// The policies of the layers 1, 2, 4 and 5 of seven blocks.
std::string mixed(ActivationMix const& mix) {
  Plan plan;
  plan.blocks.resize(7);
  apply(mix, {1, 2, 4, 5}, plan);
  std::string letters;
  for (int const b : {1, 2, 4, 5}) letters += row(plan.blocks[b].policy).letter;
  for (int const b : {0, 3, 6}) EXPECT_EQ(plan.blocks[b], BlockPlan{}) << b;
  return letters;
}

TEST(Mixes, give_its_share_of_the_first_or_last_layers_the_main_policy) {
  using enum BlockPolicy;
  EXPECT_EQ(mixed({nvme, recompute, light, 1, 1, 3}), "NNNk");
  EXPECT_EQ(mixed({nvme, recompute, light, 0.75, 1, 4}), "NNNR");
  EXPECT_EQ(mixed({nvme, recompute, light, 0.5, 1, 4}), "NRNR");
  EXPECT_EQ(mixed({nvme, recompute, light, 0.25, 1, 4}), "NRRR");
  EXPECT_EQ(mixed({nvme, recompute, light, 0.5, 1, 3, true}), "kNRN");
  EXPECT_EQ(mixed({nvme, recompute, light, 0.75, 1, 0}), "kkkk");
}

TEST(Mixes, let_a_fraction_leave_only_where_anything_leaves) {
  Plan plan;
  plan.blocks.resize(3);
  apply({BlockPolicy::host, BlockPolicy::light, BlockPolicy::keep, 0.5, 0.25, 2}, {0, 1, 2}, plan);
  EXPECT_EQ(plan.blocks[0], (BlockPlan{BlockPolicy::host, 0.25}));
  EXPECT_EQ(plan.blocks[1], (BlockPlan{BlockPolicy::light, 1}));
  EXPECT_EQ(plan.blocks[2], (BlockPlan{BlockPolicy::keep, 1}));
}

Candidate timed(double step_s, std::int64_t moved_bytes, std::int64_t written_bytes = 0) {
  Candidate result;
  result.step_s = step_s;
  result.moved_bytes = {.written = written_bytes, .all = moved_bytes};
  return result;
}

// Times from 1 s to 1.01 s are of one class.
TEST(Candidates, are_better_if_faster_by_a_class_else_by_fewer_bytes_else_by_time) {
  EXPECT_TRUE(better(timed(1, 9), timed(1.02, 0)));
  EXPECT_FALSE(better(timed(1.02, 0), timed(1, 9)));
  EXPECT_TRUE(better(timed(1.001, 3), timed(1, 4)));
  EXPECT_FALSE(better(timed(1, 4), timed(1.001, 3)));
  EXPECT_TRUE(better(timed(1, 3), timed(1.001, 3)));
  EXPECT_FALSE(better(timed(1, 3), timed(1, 3)));
  EXPECT_TRUE(better(timed(0, 9), timed(1e-9, 0)));
  EXPECT_TRUE(better(timed(1.001, 4), timed(1, 3, 1))) << "writes wear a drive out";
  EXPECT_FALSE(better(timed(1, 3, 1), timed(1.001, 4)));
}

TEST(Candidates, fit_if_each_peak_is_no_more_than_its_budget) {
  Budgets const budgets{10, 20, 30};
  EXPECT_TRUE(fits({10, 20, 30}, budgets));
  for (TierBytes const& peaks : {TierBytes{11, 0, 0}, {0, 21, 0}, {0, 0, 31}})
    EXPECT_FALSE(fits(peaks, budgets));
  EXPECT_TRUE(rest_fits({11, 20, 30}, budgets));
  EXPECT_FALSE(rest_fits({0, 21, 0}, budgets));
  EXPECT_FALSE(rest_fits({0, 0, 31}, budgets));
}

TEST(Candidates, are_held_against_budgets_less_what_estimates_miss) {
  auto const same = [](Budgets const& a, Budgets const& b) {
    return a.device_bytes == b.device_bytes && a.host_bytes == b.host_bytes &&
           a.nvme_bytes == b.nvme_bytes && a.nvme_bytes_per_s == b.nvme_bytes_per_s;
  };
  EXPECT_TRUE(same(corrected({100, 200, 300, 7}, {1, 20, -3}), {99, 180, 303, 7}));
  EXPECT_TRUE(same(corrected({100, 200, 300, 7}, {101, 200, 301}), {-1, 1, 1, 7}));
  EXPECT_TRUE(same(corrected({100, 0, 0, 7}, {-5, -5, 5}), {105, 0, 0, 7}));
}

}  // namespace
}  // namespace spillway::test::strategies_test
