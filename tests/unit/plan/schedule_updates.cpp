// When updates run: after the whole gradient's norm, or beside the backward pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "plan/compile/compile.hpp"
#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"
#include "plan/memory/lifetime.hpp"
#include "plan/search/solve.hpp"
#include "plan/time/simulate.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"

namespace spillway::test::schedule_updates_test {
namespace {

Graph const& graph() {
  static Graph const small =
      gpt_training_graph({.layers = 4, .hidden = 128, .heads = 4, .vocab = 300, .sequence = 64});
  return small;
}

Plan plan(bool redo, char const* update, char const* optimizer = "device") {
  auto result = make_plan(graph(),
                          PlanWords{.activations = {"recompute"},
                                    .optimizer = {optimizer},
                                    .update = {update},
                                    .prefetch = 1},
                          BlockPolicy::keep);
  result.redo = redo;
  return result;
}

OpKind op_kind(Program const& program, Item const& item) {
  return program.ops[static_cast<std::size_t>(item.op)].kind;
}

bool is_update(Program const& program, Item const& item) {
  return item.kind == ItemKind::op && op_kind(program, item) == OpKind::adamw;
}

std::vector<ItemNumber> updates(Program const& program) {
  std::vector<ItemNumber> items;
  for (Item const& item : program.items) {
    if (is_update(program, item)) items.push_back(item.number);
  }
  return items;
}

ItemNumber find(Program const& program, ItemKind kind) {
  auto const found =
      std::ranges::find_if(program.items, [&](Item const& item) { return item.kind == kind; });
  return found == program.items.end() ? -1 : found->number;
}

ItemNumber last_compute_op(Program const& program) {
  ItemNumber last = -1;
  for (Item const& item : program.items) {
    bool const computes = item.lane == Lane::compute && item.kind == ItemKind::op;
    if (computes && !is_update(program, item)) last = item.number;
  }
  return last;
}

std::int64_t device_peak(Plan const& plan) {
  return compile(graph(), nullptr, plan, 1, 1).train.peak_bytes[0];
}

TEST(Updates, that_ask_for_whole_parameters_are_not_cut) {
  auto whole = graph();
  auto const largest = std::ranges::max(graph().chunks, {}, &Chunk::elements);
  for (Op& op : whole.ops) op.whole_chunk = op.phase == Phase::update && op.chunk == largest.id;
  auto sliced = plan(true, "device", "host");
  sliced.update_slice = std::int64_t{512} << 5;
  ASSERT_GT(largest.elements, 2 * sliced.update_slice);
  auto const counts = [&](Graph const& of) {
    std::map<int, int> result;
    auto const program = compile(of, nullptr, sliced, 1, 1).train;
    for (auto const number : updates(program)) {
      auto const op = program.items[static_cast<std::size_t>(number)].op;
      ++result[program.ops[static_cast<std::size_t>(op)].chunk];
    }
    return result;
  };
  auto expected = counts(graph());
  EXPECT_GT(std::exchange(expected[largest.id], 1), 2);
  EXPECT_EQ(counts(whole), expected);
}

// A workspace of each would be in use until the next step reads what its update has changed.
TEST(Updates, on_the_host_lane_take_turns_with_the_largest_workspace) {
  auto whole = graph();
  std::int64_t bytes = 0;
  for (Op& op : whole.ops)
    if (op.phase == Phase::update) op.workspace_bytes = bytes += 8192;
  for (bool const redo : {true, false}) {
    auto const program = compile(whole, nullptr, plan(redo, "host"), 1, 1).train;
    std::set<BufferId> workspaces;
    for (auto const number : updates(program))
      workspaces.insert(program.items[static_cast<std::size_t>(number)].operands.back());
    ASSERT_EQ(workspaces.size(), 1u);
    EXPECT_EQ(program.buffers[static_cast<std::size_t>(*workspaces.begin())].bytes, bytes);
  }
}

TEST(Updates, wait_for_the_norm_where_it_is_awaited) {
  for (int const micro_batches : {1, 3}) {
    auto const program = compile(graph(), nullptr, plan(true, "host"), micro_batches, 1).train;
    EXPECT_TRUE(program.redo);
    EXPECT_EQ(find(program, ItemKind::report), -1);
    auto const commit = find(program, ItemKind::commit);
    EXPECT_EQ(program.items[static_cast<std::size_t>(commit)].operands.size(), 3u);
    EXPECT_GT(commit, last_compute_op(program));
    EXPECT_LT(commit, updates(program).front());
  }
}

TEST(Updates, begin_beside_the_last_backward_pass_where_nothing_waits_for_the_norm) {
  for (char const* optimizer : {"device", "host", "nvme"}) {
    for (int const micro_batches : {1, 3}) {
      for (int const ranks : {1, 2}) {
        auto const program =
            compile(graph(), nullptr, plan(false, "host", optimizer), micro_batches, ranks).train;
        EXPECT_FALSE(program.redo);
        auto const all = updates(program);
        EXPECT_LT(find(program, ItemKind::commit), all.front());
        EXPECT_EQ(program.items[static_cast<std::size_t>(find(program, ItemKind::commit))]
                      .operands.size(),
                  2u);
        auto const early = std::ranges::count_if(
            all, [&](ItemNumber item) { return item < last_compute_op(program); });
        EXPECT_GT(early, std::ssize(all) / 2);
        EXPECT_EQ(find(program, ItemKind::report), program.items.back().number);
      }
    }
  }
}

// The chunks that the host updates, in the order of their updates.
std::vector<int> updated_chunks(Program const& program, ItemNumber from, ItemNumber to) {
  std::vector<int> chunks;
  for (ItemNumber const item : updates(program)) {
    auto const chunk =
        program.ops[static_cast<std::size_t>(program.items[static_cast<std::size_t>(item)].op)]
            .chunk;
    if (from <= item && item < to && (chunks.empty() || chunks.back() != chunk))
      chunks.push_back(chunk);
  }
  return chunks;
}

// Chunks are numbered in the order in which the next forward pass reads them. Gradients come the
// other way round.
TEST(Updates, that_are_put_off_come_in_the_order_of_the_next_forward_pass) {
  for (bool const unified : {true, false}) {
    auto half = plan(false, "host", "host");
    half.unified = unified;
    half.early = 50;
    auto const program = compile(graph(), nullptr, half, 1, 1).train;
    auto const end = last_compute_op(program);
    auto const all = static_cast<ItemNumber>(program.items.size());
    auto const early = updated_chunks(program, 0, end), late = updated_chunks(program, end, all);
    EXPECT_EQ(early.size() + late.size(), graph().chunks.size());
    EXPECT_EQ(early.size(), graph().chunks.size() / 2);
    EXPECT_TRUE(std::ranges::is_sorted(early, std::greater<>{}));
    EXPECT_TRUE(std::ranges::is_sorted(late));
    half.early = 0;
    auto const put_off = compile(graph(), nullptr, half, 1, 1).train;
    EXPECT_EQ(updated_chunks(put_off, 0, last_compute_op(put_off)), std::vector<int>{});
  }
}

// The search puts off updates where the host would be late with those that are needed first.
TEST(Updates, are_put_off_where_the_host_is_slow) {
  auto const deep = gpt_training_graph(
      {.layers = 12, .hidden = 256, .heads = 4, .vocab = 300, .sequence = 256, .micro = 8});
  Machine machine{.matmul_gflops_bf16 = 5000, .memory_gbps = 500, .h2d_gbps = 20, .d2h_gbps = 20};
  machine.device_bytes = std::int64_t{1} << 40;
  machine.kind_giga_per_s["host adamw"] = 4;
  PlanWords words{.optimizer = {"host"}, .update = {"host"}};
  words.norm_is_awaited = false;
  auto const step_s = [&](PlanWords const& asked) {
    return solve(
        {deep, nullptr, asked, {std::int64_t{1} << 34, std::int64_t{1} << 34, 0}, machine, 1, 1});
  };
  auto const open = step_s(words);
  words.early = 100;
  auto const by_gradient = step_s(words);
  ASSERT_TRUE(open.chosen && by_gradient.chosen);
  EXPECT_LT(open.chosen->plan.early, 100);
  EXPECT_LT(open.chosen->step_s, 0.95 * by_gradient.chosen->step_s);
}

// What is asked for holds although nobody asks for updates on the host.
TEST(Updates, are_as_early_as_asked_where_the_search_leaves_them_to_the_host) {
  Machine machine{.matmul_gflops_bf16 = 5000, .memory_gbps = 500, .h2d_gbps = 20, .d2h_gbps = 20};
  machine.device_bytes = std::int64_t{1} << 40;
  machine.kind_giga_per_s["host adamw"] = 100;
  PlanWords words;
  words.norm_is_awaited = false;
  words.early = 35;
  auto const all = device_peak(make_plan(graph(), words));
  auto const asked =
      solve({graph(), nullptr, words, {all * 6 / 10, std::int64_t{1} << 34, 0}, machine, 1, 1});
  ASSERT_TRUE(asked.chosen && !asked.chosen->plan.redo);
  EXPECT_EQ(asked.chosen->plan.early, 35);
}

// Else they would wait in their lane for the sum over ranks that was begun last.
TEST(Updates, of_several_ranks_come_a_group_behind_their_gather) {
  auto const program = compile(graph(), nullptr, plan(false, "host", "host"), 1, 2).train;
  auto const is_backward = [&](Item const& item) {
    if (item.kind != ItemKind::op) return false;
    Op const& op = program.ops[static_cast<std::size_t>(item.op)];
    return op.phase == Phase::backward && op.kind != OpKind::tree_sum;
  };
  auto const last =
      std::ranges::find_if(program.items.rbegin(), program.items.rend(), is_backward)->number;
  std::map<int, bool> passed;  // by chunk that was gathered: whether backward ops have run since
  int early = 0;
  for (Item const& item : program.items) {
    if (item.kind == ItemKind::all_gather) passed[item.chunk] = false;
    if (is_backward(item))
      for (auto& [chunk, has] : passed) has = true;
    if (item.kind != ItemKind::op || item.number > last) continue;
    if (program.ops[static_cast<std::size_t>(item.op)].phase != Phase::update) continue;
    ++early;
    EXPECT_TRUE(passed[item.chunk]) << describe(program, item.number);
  }
  EXPECT_GT(early, 2);
}

// A gradient that is used up at once makes room for the next.
TEST(Updates, beside_the_backward_pass_leave_fewer_gradients_alive) {
  EXPECT_LT(device_peak(plan(false, "device")), device_peak(plan(true, "device")));
  EXPECT_LT(device_peak(plan(false, "host")), device_peak(plan(true, "host")));
}

TEST(Updates, of_a_plan_begin_early_only_where_the_host_runs_them_and_no_norm_is_awaited) {
  auto const redo = [&](char const* update, bool awaited) {
    PlanWords request{.update = {update}};
    request.norm_is_awaited = awaited;
    return make_plan(graph(), request, BlockPolicy::keep).redo;
  };
  EXPECT_FALSE(redo("host", false));
  EXPECT_TRUE(redo("host", true));
  EXPECT_TRUE(redo("device", false));
}

// Over the link to a device with memory of its own, too: the next step's batch does not wait for
// what updates take back over it.
TEST(Updates, on_the_host_go_on_beside_the_next_forward_pass) {
  auto late = plan(true, "host", "host");
  late.unified = false;
  auto program = compile(graph(), nullptr, late, 1, 1).train;
  Machine machine{.matmul_gflops_bf16 = 100, .memory_gbps = 100, .h2d_gbps = 1, .d2h_gbps = 1};
  machine.kind_giga_per_s["host adamw"] = 1;
  auto const simulation = simulate(program, machine);
  double begin_s = 0;  // of the forward pass, counted from the end of the step before
  for (auto const& interval : simulation.intervals) {
    bool const computes =
        program.items[static_cast<std::size_t>(interval.item)].lane == Lane::compute;
    if (computes) begin_s = std::min(begin_s, interval.start_s);
  }
  EXPECT_LT(begin_s, -0.1 * simulation.busy_s[index(Lane::host)]);
}

// Nothing else takes a gradient's place on the device before the next step needs the parameters
// that its update makes.
TEST(Updates, on_the_host_take_gradients_from_the_device_beside_the_next_forward_pass) {
  auto late = plan(true, "host", "host");
  late.unified = false;
  for (ChunkPlan& chunk : late.chunks) chunk.gradients = Tier::device;
  auto const program = compile(graph(), nullptr, late, 1, 1).train;
  int copies = 0;
  for (Item const& item : program.items) {
    if (item.lane != Lane::d2h || program.segments.back().first > item.number) continue;
    auto const& from = program.buffers[item.operands.front()];
    if (program.tensors[from.tensor].role != Role::gradient) continue;
    ++copies;
    EXPECT_GE(item.horizon, std::ssize(program.items)) << "item " << item.number;
  }
  EXPECT_GT(copies, 0);
}

}  // namespace
}  // namespace spillway::test::schedule_updates_test
