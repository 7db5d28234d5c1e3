// What ranks share out: what each of them keeps, and what it sends in a step.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "plan/compile/compile.hpp"
#include "plan/data/exchange.hpp"
#include "plan/data/machine_file.hpp"
#include "plan/time/simulate.hpp"
#include "tests/support/small_machine.hpp"
#include "tests/unit/plan/schedule_case.hpp"

namespace spillway::test::schedule_shares_test {
namespace {

using schedule_case::small_gpt, schedule_case::Words;

constexpr int kRanks = 3;

Program shared_out(Graph const& graph, Words const& shard, int micro_batches, int group,
                   int prefetch = 0) {
  auto const plan =
      make_plan(graph, PlanWords{.shard = shard, .prefetch = prefetch, .group = group});
  return compile(graph, nullptr, plan, micro_batches, kRanks).train;
}

double bytes_of(Program const& program, TensorId Chunk::*tensor) {
  double bytes = 0;
  for (Chunk const& chunk : program.chunks)
    bytes += static_cast<double>(element_count(program.tensors[chunk.*tensor].shape) *
                                 size_bytes(program.tensors[chunk.*tensor].dtype));
  return bytes;
}

// With the share that a rank has itself, so N / (N - 1) of what it sends.
double exchanged_bytes(Program const& program) {
  return static_cast<double>(simulate(program, small_machine()).bytes[Lane::comm]);
}

TEST(Schedule, leaves_each_rank_its_slices) {
  auto const graph = small_gpt();
  auto const kept = [&](Words const& shard) {
    auto const program = shared_out(graph, shard, 2, 1);
    std::int64_t bytes = 0;
    for (auto const of_tier : program.persistent_bytes) bytes += of_tier;
    return static_cast<double>(bytes);
  };
  EXPECT_LT(kept({"all"}), 0.4 * kept({"none"}));
  EXPECT_GT(kept({"optimizer"}), kept({"all"}));
  EXPECT_LT(kept({"optimizer"}), kept({"none"}));
  EXPECT_GT(kept({"none", "all"}), kept({"all"}));
}

// ZeRO (arXiv 1910.02054), section 7, but for gradients that are summed once a step and parameters
// that come for each visit of a group.
TEST(Schedule, sends_gradients_once_and_parameters_for_each_visit_of_a_group) {
  constexpr int micro_batches = 4;
  auto const graph = small_gpt();
  auto const plain = shared_out(graph, {"none"}, micro_batches, 1);
  auto const gradients = bytes_of(plain, &Chunk::gradient);
  auto const parameters = bytes_of(plain, &Chunk::parameter);
  auto const near = [&](Words const& shard, int group, double bytes) {
    auto const program = shared_out(graph, shard, micro_batches, group);
    // Slices are padded, and each rank tells its norms.
    EXPECT_NEAR(exchanged_bytes(program) / bytes, 1, 0.05) << shard[0] << " " << group;
  };
  near({"none"}, 1, 2 * gradients);
  near({"optimizer"}, 1, gradients + parameters);
  near({"gradients"}, 2, gradients + parameters);
  // The tied embedding is at both ends, and what the forward pass ends with begins the backward
  // pass.
  auto const visits = [&](int group) {
    auto const program = shared_out(graph, {"all"}, micro_batches, group);
    return (exchanged_bytes(program) - gradients) / parameters;
  };
  EXPECT_GT(visits(1), 1.5 * micro_batches);
  EXPECT_LT(visits(1), 3.0 * micro_batches);
  EXPECT_NEAR(visits(2), visits(1) / 2, 0.1);
  EXPECT_NEAR(visits(4), visits(1) / 4, 0.15);
}

// Ranks of two nodes: gradients go to all ranks and, once summed, to the ranks of the other node
// that keep the same slice; parameters come from the own node.
TEST(Schedule, keeps_a_copy_on_each_node) {
  constexpr int ranks = 4, micro_batches = 2;
  auto const graph = small_gpt();
  auto const of = [&](Words const& shard, std::int64_t sharers) {
    auto plan = make_plan(graph, PlanWords{.shard = shard, .prefetch = 0, .group = micro_batches});
    plan.sharers = sharers;
    return compile(graph, nullptr, plan, micro_batches, ranks).train;
  };
  auto const none = of({"none"}, 0), of_all = of({"all"}, 0), of_nodes = of({"all"}, 2);
  auto const kept = [](Program const& program) {
    return static_cast<double>(program.persistent_bytes[Tier::device]);
  };
  EXPECT_NEAR(kept(of_nodes) / kept(none), 0.5, 0.05);
  EXPECT_NEAR(kept(of_all) / kept(none), 0.25, 0.05);
  std::map<std::pair<ItemKind, std::int64_t>, double> bytes;  // by how many ranks exchange them
  for (Item const& item : of_nodes.items) {
    if (item.chunk < 0 || item.lane != Lane::comm) continue;
    auto const group = exchange_group(of_nodes, item, 3);
    auto const other = group.step == 2 ? RankRange{1, 2, 2} : RankRange{2, 2, 1};
    EXPECT_EQ(group, item.kind == ItemKind::all_to_all ? all_ranks(ranks) : other);
    bytes[{item.kind, group.count == ranks ? 0 : group.step}] +=
        static_cast<double>(written_bytes(item));
  }
  auto const gradients = bytes_of(none, &Chunk::gradient);
  EXPECT_NEAR((bytes[{ItemKind::all_to_all, 0}]) / gradients, 1, 0.1) << "padded";
  EXPECT_NEAR((bytes[{ItemKind::all_gather, 2}]) / gradients, 0.5, 0.05);
  auto const visits = (bytes[{ItemKind::all_gather, 1}]) / bytes_of(none, &Chunk::parameter);
  EXPECT_GT(visits, 1.5);
  EXPECT_LT(visits, 3.0);
  EXPECT_THROW(of({"all"}, 3), std::logic_error);
}

TEST(Schedule, shares_out_nothing_where_nodes_have_one_rank) {
  auto const graph = small_gpt();
  auto plan = make_plan(graph, PlanWords{.shard = {"all"}});
  auto const shared = compile(graph, nullptr, plan, 2, 4).train;
  plan.sharers = 1;
  auto const alone = compile(graph, nullptr, plan, 2, 4).train;
  EXPECT_GT(alone.persistent_bytes[Tier::device], 3 * shared.persistent_bytes[Tier::device]);
  for (Chunk const& chunk : alone.chunks) EXPECT_FALSE(chunk.is_shared_out());
}

// What could not be read in a step that is done again must not reach the parameters of others.
TEST(Schedule, sends_updated_parameters_only_if_the_step_is_committed) {
  auto const graph = small_gpt();
  for (bool const unified : {true, false}) {
    auto plan = make_plan(graph, PlanWords{.optimizer = {"host"}, .shard = {"gradients"}});
    plan.unified = unified;
    auto const program = compile(graph, nullptr, plan, 2, kRanks).train;
    auto const control = program.known.control;
    int sent = 0;
    for (Item const& item : program.items) {
      bool const writes = std::ranges::any_of(item.writes, [&](Access const& write) {
        auto const tensor = program.buffers[write.buffer].tensor;
        return tensor >= 0 && std::ranges::count(program.chunks, tensor, &Chunk::parameter) > 0;
      });
      if (!writes) continue;
      ASSERT_EQ(item.operands.size(), 3u);
      EXPECT_EQ(program.buffers[item.operands[2]].tensor, control);
      ++sent;
    }
    EXPECT_GE(sent, std::ssize(program.chunks));
  }
}

// Beside a device of its own memory ranks exchange copies in host memory.
TEST(Schedule, has_no_exchange_wait_for_the_bytes_of_another_where_they_overlap) {
  constexpr int ranks = 2;
  auto const graph =
      gpt_training_graph({.layers = 8, .hidden = 512, .heads = 8, .vocab = 300, .sequence = 64});
  auto const with = [&](bool overlap) {
    auto plan = make_plan(graph, PlanWords{.shard = {"gradients"}});
    plan.unified = false;
    plan.exchanges_overlap = overlap;
    return compile(graph, nullptr, plan, 1, ranks).train;
  };
  auto const side_by_side = with(true), in_turn = with(false);
  auto const machine =
      shared_by(load_machine(SPILLWAY_SOURCE_DIR "/input/machines/rtx3090.yaml"), ranks);
  EXPECT_LT(simulate(side_by_side, machine).step_s, 0.9 * simulate(in_turn, machine).step_s);
  EXPECT_GT(side_by_side.peak_bytes[Tier::host], in_turn.peak_bytes[Tier::host]);
  EXPECT_EQ(side_by_side.peak_bytes[Tier::device], in_turn.peak_bytes[Tier::device]);
  EXPECT_EQ(side_by_side.items.size(), in_turn.items.size());
}

TEST(Schedule, shares_out_nothing_where_there_is_one_rank) {
  auto const graph = small_gpt();
  auto const of = [&](Words const& shard) {
    auto const plan = make_plan(graph, PlanWords{.shard = shard});
    return compile(graph, nullptr, plan, 2, 1).train.persistent_bytes;
  };
  EXPECT_EQ(of({"all"}), of({"none"}));
}

}  // namespace
}  // namespace spillway::test::schedule_shares_test
