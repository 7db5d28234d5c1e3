#include "plan/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "graph/build.hpp"
#include "plan/compile/compile.hpp"
#include "plan/data/plan.hpp"
#include "plan/data/program.hpp"
#include "plan/memory/lifetime.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/unit/plan/schedule_case.hpp"

namespace spillway::test::schedule_test {
namespace {

using schedule_case::gpt2, schedule_case::op_of, schedule_case::schedule_gpt,
    schedule_case::small_gpt, schedule_case::Words;

// `compile` throws if the Program cannot be proved.
TEST(Schedule, proves_gpt2_under_every_fate_accumulation_and_rank_count) {
  for (int const micro_batches : {1, 2, 3}) {
    for (int const ranks : {1, 2}) {
      std::map<std::string, std::int64_t> peak;
      for (Words const& words : {Words{"keep"}, Words{"recompute"}, Words{"nvme"},
                                 Words{"nvme", "recompute", "keep", "nvme", "nvme", "recompute"}}) {
        auto const plan = make_plan(
            gpt2(), PlanWords{.activations = words, .update = {"host", "device"}, .prefetch = 2},
            BlockPolicy::keep);
        Compiled compiled;
        ASSERT_NO_THROW(compiled = compile(gpt2(), nullptr, plan, micro_batches, ranks))
            << words[0] << " " << micro_batches << " micro-batches, " << ranks << " ranks";
        peak[words.size() == 1 ? words[0] : "mixed"] = compiled.train.peak_bytes[0];
      }
      EXPECT_LT(peak["recompute"], peak["keep"]);
      EXPECT_LT(peak["nvme"], peak["keep"]);
      EXPECT_LT(peak["mixed"], peak["keep"]);
    }
  }
}

TEST(Schedule, proves_models_of_odd_sizes_with_dropout_and_one_layer) {
  for (std::int64_t const layers : {1, 2, 5}) {
    for (auto const precision : {Precision::bf16, Precision::fp32}) {
      GptShape const shape{.layers = layers,
                           .hidden = 84,  // gaps between parameters
                           .heads = 3,
                           .vocab = 257,
                           .sequence = 130,
                           .micro = 3,
                           .precision = precision,
                           .dropout = 0.1};
      Graph const train = gpt_training_graph(shape), eval = gpt_graph(shape, Purpose::eval);
      for (char const* policy : {"keep", "recompute", "nvme"}) {
        auto const plan =
            make_plan(train, PlanWords{.activations = {policy}, .update = {"device", "host"}},
                      BlockPolicy::keep);
        for (int const micro_batches : {1, 2, 5}) {
          EXPECT_NO_THROW(compile(train, &eval, plan, micro_batches, 3)) << policy << layers;
        }
      }
    }
  }
}

// Of each gradient that leaves the device.
void expect_no_last_gap(Program const& program) {
  int shorter = 0;
  for (Item const& item : program.items) {
    if (item.kind != ItemKind::copy || item.lane != Lane::d2h) continue;
    Buffer const& from = program.buffers[item.operands[0]];
    auto const chunk = std::ranges::find(program.chunks, from.tensor, &Chunk::gradient);
    if (chunk == program.chunks.end()) continue;
    auto const last = bounding_range(chunk->parameters.back().view).last * size_bytes(DType::f32);
    auto const& [read, write] = std::pair(item.reads, item.writes[0]);
    EXPECT_LE(read.back().last, last);
    EXPECT_EQ(read.back().last - read.front().first, write.last - write.first);
    shorter += read.back().last == last && last < from.bytes;
  }
  EXPECT_GT(shorter, 0) << "no gradient has a gap behind its last parameter";
}

// The gap behind a gradient's last parameter may be written by an item that does not wait for the
// copy.
TEST(Schedule, copies_gradients_up_to_their_last_parameter) {
  Graph const graph = gpt_training_graph({.layers = 2, .hidden = 84, .heads = 3, .vocab = 257});
  auto to_home = make_plan(graph, PlanWords{.gradients = {"host"}}, BlockPolicy::keep);
  auto to_slots = make_plan(graph, PlanWords{.update = {"host"}}, BlockPolicy::keep);
  for (auto* const plan : {&to_home, &to_slots}) {
    plan->unified = false;
    expect_no_last_gap(compile(graph, nullptr, *plan, 2, 1).train);
  }
}

TEST(Schedule, keeps_logits_for_whoever_generates) {
  Graph const graph =
      gpt_graph({.layers = 2, .hidden = 128, .heads = 4, .micro = 1}, Purpose::generate);
  Program const program = compile_inference({&graph, 1}, 1, true).front();
  auto const alive = lifetimes(program);
  auto const logits = std::find_if(program.buffers.begin(), program.buffers.end(),
                                   [&](Buffer const& b) { return b.tensor == graph.known.logits; });
  ASSERT_NE(logits, program.buffers.end());
  EXPECT_EQ(alive[static_cast<std::size_t>(logits->id)].back().last + 1,
            static_cast<ItemNumber>(program.items.size()));
}

TEST(Schedule, runs_every_forward_op_and_every_backward_op_once_per_micro_batch_when_all_is_kept) {
  Graph const graph = small_gpt();
  Program const program = schedule_gpt(graph, {"keep"}, 3);
  for (Segment const& segment : program.segments) {
    if (segment.name == "update") continue;
    std::map<std::string, int> runs;
    for (auto i = segment.first; i < segment.last; ++i) {
      Item const& item = program.items[static_cast<std::size_t>(i)];
      if (item.kind == ItemKind::op) ++runs[op_of(program, item).name];
    }
    for (Op const& op : graph.ops) {
      bool const expected =
          op.phase == Phase::backward || (op.phase == Phase::forward && !op.elided);
      EXPECT_EQ(runs[op.name], expected ? 1 : 0) << segment.name << " " << op.name;
    }
  }
}

TEST(Schedule, updates_a_chunk_on_the_host_lane_where_the_plan_says_so) {
  Program const program =
      schedule_gpt(small_gpt(), {"keep"}, 1, 1, 0, {"device", "host", "device"});
  for (Item const& item : program.items) {
    if (item.kind != ItemKind::op || op_of(program, item).kind != OpKind::adamw) continue;
    EXPECT_EQ(item.lane, item.chunk == 1 ? Lane::host : Lane::compute);
  }
}

// A file may be slow to read, and messages to other ranks must not wait behind it.
TEST(Schedule, has_batches_and_nothing_else_on_the_data_lane) {
  Program const program = schedule_gpt(small_gpt(), {"keep"}, 3, 2);
  std::int64_t batches = 0;
  for (Item const& item : program.items) {
    EXPECT_EQ(item.lane == Lane::data, item.kind == ItemKind::load_batch) << item.number;
    batches += item.lane == Lane::data ? 1 : 0;
  }
  EXPECT_EQ(batches, 3);
}

TEST(Schedule, gives_scratch_to_ops_that_ask_for_it) {
  Graph graph = small_gpt();
  size_workspaces(graph, [](Graph const&, Op const& op) {
    return op.kind == OpKind::attention ? std::int64_t{1000} : std::int64_t{0};
  });
  Program const program = schedule_gpt(graph, {"recompute"});
  for (Item const& item : program.items) {
    if (item.kind != ItemKind::op || op_of(program, item).kind != OpKind::attention) continue;
    auto const& scratch = program.buffers[static_cast<std::size_t>(item.operands.back())];
    EXPECT_GE(scratch.bytes, 1000);
    EXPECT_EQ(program.tensors[static_cast<std::size_t>(scratch.tensor)].role, Role::workspace);
  }
}

TEST(Schedule, evaluates_in_one_segment_and_writes_no_state) {
  Graph const graph = gpt_graph(
      {.layers = 2, .hidden = 128, .heads = 4, .vocab = 300, .sequence = 64}, Purpose::eval);
  Program const program = schedule(graph, {}, 1, 1);
  ASSERT_EQ(program.segments.size(), 1u);
  EXPECT_EQ(program.segments[0].name, "forward");
  for (Item const& item : program.items) {
    for (Access const& write : item.writes) {
      EXPECT_FALSE(program.buffers[static_cast<std::size_t>(write.buffer)].persistent);
    }
  }
}

}  // namespace
}  // namespace spillway::test::schedule_test
