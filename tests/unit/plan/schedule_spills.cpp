// What `schedule` promises about activations that leave the device, whatever the Plan.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "plan/data/plan.hpp"
#include "plan/data/program.hpp"
#include "plan/data/reach.hpp"
#include "plan/memory/lifetime.hpp"
#include "plan/schedule/schedule.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/random_plan.hpp"
#include "tests/support/random_program.hpp"

namespace spillway::test::schedule_spills_test {
namespace {

constexpr unsigned kPlans = 100;

// A random Plan that spills something. Parameters stay where they are used and updates run at the
// end, so that `prefetch` is about reloads alone. Any tensor is staged in one piece.
struct Spilling {
  Graph graph;
  Plan plan;
  int micro_batches;

  explicit Spilling(unsigned seed) {
    Random draws(seed);
    auto shape = random_shape(draws);
    shape.layers += 2;
    graph = gpt_training_graph(shape);
    plan = random_plan(graph, draws);
    micro_batches = 1 + below(draws, 3);
    for (ChunkPlan& chunk : plan.chunks) {
      chunk.parameters = Tier::device;
      chunk.shard = Shard::none;
    }
    plan.redo = true;
    plan.staging_piece_bytes = std::int64_t{64} << 20;
    constexpr BlockPolicy policies[] = {BlockPolicy::nvme, BlockPolicy::host,
                                        BlockPolicy::light_nvme, BlockPolicy::recompute_host};
    for (BlockPlan& block : plan.blocks) {
      if (below(draws, 2) == 0) block.policy = policies[below(draws, 4)];
    }
    normalise(graph, plan);
  }

  Program scheduled(int prefetch) {
    plan.prefetch = prefetch;
    return schedule(graph, plan, micro_batches, 1);
  }
};

bool is_activation(Program const& program, BufferId id) {
  return program.tensors[program.buffers[id].tensor].is_activation();
}

// Copies of activations that leave the device, or that come back.
std::vector<Item const*> copies(Program const& program, bool back) {
  std::vector<Item const*> result;
  for (Item const& item : program.items) {
    if (item.kind != ItemKind::copy) continue;
    auto const on_device = item.operands[back ? 1 : 0];
    bool const is_there = program.buffers[on_device].tier == Tier::device;
    if (is_there && is_activation(program, on_device)) result.push_back(&item);
  }
  return result;
}

// The tensor that a copy moves, the segment of the copy and which of its micro-batches.
using Moved = std::tuple<TensorId, std::string, int>;
Moved moved(Program const& program, Item const& item, bool back) {
  auto const segment = std::ranges::find_if(program.segments,
                                            [&](Segment const& s) { return item.number < s.last; });
  return {program.buffers[item.operands[back ? 1 : 0]].tensor, segment->name, item.micro_batch};
}

TEST(Spills, of_a_tensor_happen_once_per_micro_batch_however_many_ops_read_it) {
  int read_by_several = 0;
  for (unsigned seed = 0; seed < kPlans; ++seed) {
    Spilling spilling(seed);
    Program const program = spilling.scheduled(2);
    for (bool const back : {false, true}) {
      std::set<Moved> seen;
      for (Item const* item : copies(program, back)) {
        EXPECT_TRUE(seen.insert(moved(program, *item, back)).second)
            << seed << " " << describe(program, item->number);
      }
    }
    std::map<BufferId, int> readers;
    for (Item const* item : copies(program, true)) readers[item->operands[1]] = 0;
    for (Item const& item : program.items) {
      for (Access const& read : item.reads) {
        if (readers.contains(read.buffer)) ++readers[read.buffer];
      }
    }
    read_by_several += std::ranges::any_of(readers, [](auto const& r) { return r.second > 1; });
  }
  EXPECT_GT(read_by_several, 10);
}

// The write is expected to have ended at its horizon: what is back earlier should have stayed.
TEST(Spills, are_reloaded_only_after_their_write_has_ended) {
  int reloads = 0;
  for (unsigned seed = 0; seed < kPlans; ++seed) {
    Spilling spilling(seed);
    Program const program = spilling.scheduled(3);
    std::map<Moved, ItemNumber> written;  // until when
    for (Item const* item : copies(program, false)) {
      EXPECT_GT(item->horizon, item->number) << seed << " " << describe(program, item->number);
      written[moved(program, *item, false)] = item->horizon;
    }
    for (Item const* item : copies(program, true)) {
      auto const tensor = moved(program, *item, true);
      ASSERT_TRUE(written.contains(tensor));
      EXPECT_GT(item->number, written[tensor]) << seed << " " << describe(program, item->number);
      ++reloads;
    }
  }
  EXPECT_GT(reloads, 500);
}

TEST(Spills, are_reloaded_early_only_where_that_leaves_the_peak_as_it_is) {
  int earlier = 0;
  auto const most_alive = [](Program const& program) {
    return std::ranges::max(live_bytes(program, lifetimes(program), Tier::device));
  };
  for (unsigned seed = 0; seed < kPlans; ++seed) {
    Spilling spilling(seed);
    Program const on_demand = spilling.scheduled(0);
    for (int const prefetch : {1, 3}) {
      Program const hoisted = spilling.scheduled(prefetch);
      EXPECT_LE(most_alive(hoisted), most_alive(on_demand)) << seed << " " << prefetch;
      auto const before = copies(on_demand, true), after = copies(hoisted, true);
      ASSERT_EQ(before.size(), after.size());
      for (std::size_t i = 0; i < before.size(); ++i)
        earlier += after[i]->number < before[i]->number;
    }
  }
  EXPECT_GT(earlier, 100);
}

TEST(Spills, are_reloaded_at_most_prefetch_blocks_before_their_own) {
  for (unsigned seed = 0; seed < kPlans; ++seed) {
    Spilling spilling(seed);
    for (int const prefetch : {0, 1, 2}) {
      Program const program = spilling.scheduled(prefetch);
      for (Item const* item : copies(program, true)) {
        auto const next = std::find_if(
            program.items.begin() + item->number, program.items.end(),
            [](Item const& i) { return i.lane == Lane::compute && i.kind == ItemKind::op; });
        EXPECT_LE(next->block - item->block, prefetch)
            << seed << " " << describe(program, item->number);
      }
    }
  }
}

// A part of a tensor that leaves frees its bytes on the device, however many pieces it goes in.
TEST(Staging, frees_as_many_bytes_in_many_pieces) {
  Graph const graph = gpt_training_graph(
      {.layers = 4, .hidden = 256, .heads = 4, .vocab = 300, .sequence = 640, .micro = 4});
  auto plan = make_plan(graph, PlanWords{.activations = {"nvme:0.5"}}, BlockPolicy::keep);
  plan.unified = false;
  auto const peak = [&](std::int64_t piece_bytes) {
    plan.staging_piece_bytes = piece_bytes;
    auto const program = schedule(graph, plan, 1, 1);
    return std::ranges::max(live_bytes(program, lifetimes(program), Tier::device));
  };
  EXPECT_EQ(peak(std::int64_t{1} << 20), peak(std::int64_t{64} << 20));
}

// Beside a device with memory of its own the drive reads and writes slots in host memory alone:
// every byte goes through one of two rings, in its place and order.
TEST(Staging, goes_through_rings) {
  Graph const graph = gpt_training_graph(
      {.layers = 3, .hidden = 256, .heads = 4, .vocab = 300, .sequence = 640, .micro = 2});
  auto plan = make_plan(
      graph, PlanWords{.activations = {"nvme"}, .optimizer = {"nvme"}, .update = {"device"}},
      BlockPolicy::keep);
  plan.unified = false;
  plan.staging_piece_bytes = std::int64_t{1} << 20;
  auto const program = schedule(graph, plan, 2, 1);
  using RingPlace =
      std::pair<BufferId, std::int64_t>;  // a ring and the byte at which a copy begins
  struct Passing {
    BufferId from;
    std::int64_t first, bytes;  // in the buffer that they come from
  };
  std::map<RingPlace, Passing> there;
  std::map<std::pair<BufferId, BufferId>, std::int64_t> moved;
  std::map<BufferId, std::set<std::int64_t>> begins;
  int in_pieces = 0;
  for (Item const& item : program.items) {
    if (item.kind != ItemKind::copy) continue;
    auto const &from = program.buffers[item.operands[0]], &to = program.buffers[item.operands[1]];
    EXPECT_NE(std::set({from.tier, to.tier}), std::set({Tier::device, Tier::nvme}));
    auto const &read = item.reads.front(), &write = item.writes.front();
    auto const bytes = read.last - read.first;
    ASSERT_EQ(bytes, write.last - write.first);
    ASSERT_LE(bytes, plan.staging_piece_bytes);
    if (to.tier == Tier::host) {
      there[{to.id, write.first}] = {from.id, read.first, bytes};
      begins[to.id].insert(write.first);
      in_pieces += read.first > 0 ? 1 : 0;
      EXPECT_LE(write.last, kStagingPieces * plan.staging_piece_bytes);
    } else {
      auto const passed = there.extract({from.id, read.first});
      ASSERT_FALSE(passed.empty()) << describe(program, item.number);
      EXPECT_EQ(passed.mapped().bytes, bytes);
      moved[{passed.mapped().from, to.id}] += bytes;
      bool const is_whole = is_activation(program, to.id);  // else a slice of state
      EXPECT_EQ(write.first, is_whole ? passed.mapped().first : write.first);
    }
  }
  EXPECT_EQ(begins.size(), 2U);
  for (auto const& [ring, bytes] : begins) {
    EXPECT_GE(bytes.size(), std::size_t{kStagingPieces});
    EXPECT_EQ(program.buffers[static_cast<std::size_t>(ring)].bytes,
              kStagingPieces * plan.staging_piece_bytes);
  }
  EXPECT_GT(in_pieces, 30) << "tensors larger than a piece";
  for (auto const& [pair, bytes] : moved) {
    auto const &from = program.buffers[pair.first], &to = program.buffers[pair.second];
    if (from.persistent || to.persistent) continue;  // slices of state
    EXPECT_EQ(bytes, std::min(from.bytes, to.bytes)) << from.name;
  }
}

}  // namespace
}  // namespace spillway::test::schedule_spills_test
