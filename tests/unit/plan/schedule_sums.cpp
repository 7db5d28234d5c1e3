// Sums of losses and gradients over micro-batches and ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "plan/compile/compile.hpp"
#include "plan/data/program.hpp"
#include "plan/proof/derive.hpp"
#include "tests/unit/plan/schedule_case.hpp"

namespace spillway::test::schedule_sums_test {
namespace {

using schedule_case::items_on, schedule_case::op_of, schedule_case::schedule_gpt,
    schedule_case::small_gpt;

TEST(Schedule, collects_loss_and_gradients_over_micro_batches) {
  Program const program = schedule_gpt(small_gpt(), {"keep"}, 3);
  std::vector<bool> collects;
  std::map<std::string, int> accumulates;
  for (Segment const& segment : program.segments) {
    for (auto i = segment.first; i < segment.last; ++i) {
      Item const& item = program.items[static_cast<std::size_t>(i)];
      if (item.kind != ItemKind::op) continue;
      Op const& op = op_of(program, item);
      if (op.kind == OpKind::lm_head_loss_backward) collects.push_back(is_in_place(op, 1));
      if (op.kind == OpKind::accumulate) ++accumulates[segment.name];
    }
  }
  // The second use of the tied matrix is summed by itself, and added at the end.
  auto const uses = static_cast<int>(program.chunks.size()) + 1;
  EXPECT_EQ(collects, (std::vector{false, true, true}));
  EXPECT_EQ(accumulates, (std::map<std::string, int>{{"middle", uses}, {"last", uses + 1}}));
}

TEST(Schedule, reduces_every_chunk_once_per_step_and_commits_after_all_norms) {
  Program const program = schedule_gpt(small_gpt(), {"keep"}, 2, 2);
  std::map<ItemKind, std::multiset<int>> chunks;
  for (Item const* item : items_on(program, Lane::comm)) chunks[item->kind].insert(item->chunk);
  std::multiset<int> each;
  for (Chunk const& chunk : program.chunks) each.insert(chunk.id);
  EXPECT_EQ(chunks[ItemKind::all_to_all], each);
  EXPECT_EQ(chunks[ItemKind::all_gather], each);
  auto const commit = std::find_if(program.items.begin(), program.items.end(),
                                   [](Item const& i) { return i.kind == ItemKind::commit; });
  for (Item const& item : program.items) {
    if (item.kind != ItemKind::op) continue;
    auto const kind = op_of(program, item).kind;
    bool const before = kind == OpKind::square_norm, after = kind == OpKind::adamw;
    EXPECT_FALSE(before && item.number > commit->number);
    EXPECT_FALSE(after && item.number < commit->number);
  }
}

// Six micro-batches of a small model whose gradients are summed on the host, beside a device.
Program host_sums(int group) {
  static Graph const graph = small_gpt();
  PlanWords words{
      .activations = {"keep"}, .gradients = {"host"}, .optimizer = {"host"}, .update = {"host"}};
  words.group = group;
  auto plan = make_plan(graph, words, BlockPolicy::keep);
  plan.unified = false;
  auto program = compile_without_waits(graph, nullptr, plan, 6, 1).train;
  derive_waits(program);
  return program;
}

// Copies use two buffers in turn, so that one copy need not wait until what the last one has
// brought is added. Behind the last station, where no other one follows, it may.
TEST(Schedule, copies_a_gradient_to_the_host_while_the_one_before_is_added) {
  auto const program = host_sums(1);
  int copies = 0;
  for (Segment const& segment : program.segments) {
    if (segment.name == "first") continue;
    ItemNumber sum = -1;
    for (auto i = segment.first; i < segment.last; ++i) {
      Item const& item = program.items[static_cast<std::size_t>(i)];
      bool const is_copy = item.lane == Lane::d2h && item.kind == ItemKind::copy;
      if (is_copy && item.block > 0 && sum >= 0) {
        ++copies;
        EXPECT_EQ(std::ranges::count(item.waits, sum), 0) << "item " << item.number;
      }
      if (item.kind == ItemKind::op && op_of(program, item).kind == OpKind::accumulate)
        sum = item.number;
    }
  }
  EXPECT_GE(copies, 10);
}

// Six micro-batches in groups of three: the first group leaves a sum, and the second one brings it
// back and takes it home again. Only gradients with parts are added on the host.
TEST(Schedule, brings_sums_to_the_device_once_for_micro_batches_that_walk_together) {
  auto const program = host_sums(3);
  std::map<int, std::vector<Lane>> moves;  // of each chunk
  std::set<int> added_on_host;
  for (Item const& item : program.items) {
    if (item.kind == ItemKind::op && op_of(program, item).kind == OpKind::accumulate &&
        item.lane == Lane::host)
      added_on_host.insert(op_of(program, item).chunk);
    if (item.kind != ItemKind::copy || item.block < 0) continue;
    auto const& from = program.buffers[item.operands.front()];
    Tensor const& tensor = program.tensors[from.tensor];
    if (tensor.role == Role::gradient) moves[tensor.chunk].push_back(item.lane);
  }
  ASSERT_EQ(added_on_host, std::set{0}) << "the embedding, which the loss uses, too";
  moves.erase(0);
  EXPECT_FALSE(moves.empty());
  for (auto const& [chunk, lanes] : moves)
    EXPECT_EQ(lanes, (std::vector{Lane::d2h, Lane::h2d, Lane::d2h})) << "chunk " << chunk;
}

// Gradients of chunks without parts lie on the drive, and so does the optimizer state.
Program drive_sums(Graph const& graph, bool unified, char const* update) {
  auto plan = make_plan(graph,
                        PlanWords{.activations = {"keep"},
                                  .gradients = {"nvme"},
                                  .optimizer = {"nvme"},
                                  .update = {update}},
                        BlockPolicy::keep);
  plan.unified = unified;
  return compile(graph, nullptr, plan, 3, 1).train;
}

bool is_of_gradient(Program const& program, Item const& item) {
  return item.kind == ItemKind::copy && std::ranges::any_of(item.operands, [&](BufferId id) {
           return program.tensors[program.buffers[id].tensor].role == Role::gradient;
         });
}

// The drive is read for an addition and for the update. The norm is taken between the last addition
// and the last write.
TEST(Schedule, keeps_sums_on_the_drive_between_micro_batches) {
  auto const graph = small_gpt();
  for (bool const unified : {true, false}) {
    for (char const* const update : {"device", "host"}) {
      auto const program = drive_sums(graph, unified, update);
      std::map<int, std::string> seen;  // of each chunk, what is done with its sum
      for (Segment const& segment : program.segments) {
        for (int c = 1; c < std::ssize(program.chunks); ++c) seen[c] += segment.name + ":";
        for (auto i = segment.first; i < segment.last; ++i) {
          Item const& item = program.items[i];
          if (item.kind == ItemKind::op) {
            auto const& op = op_of(program, item);
            if (op.kind == OpKind::accumulate) seen[op.chunk] += " add";
            if (op.kind == OpKind::square_norm) seen[op.chunk] += " norm";
          }
          if (!is_of_gradient(program, item)) continue;
          auto const operand =
              program.tensors[program.buffers[item.operands[0]].tensor].role == Role::gradient ? 0
                                                                                               : 1;
          auto const chunk = program.tensors[program.buffers[item.operands[operand]].tensor].chunk;
          if (item.lane == Lane::nvme_read) seen[chunk] += " read";
          if (item.lane == Lane::nvme_write) seen[chunk] += " write";
        }
        for (int c = 1; c < std::ssize(program.chunks); ++c) seen[c] += ";";
      }
      for (int c = 1; c < std::ssize(program.chunks); ++c) {
        EXPECT_EQ(seen[c],
                  "first: write;middle: read add write;last: read add norm write;update: read;")
            << "chunk " << c << ", unified " << unified << ", update on " << update;
      }
    }
  }
}

// The drive has a checksum for whole pieces, so that bytes between parameters must not change while
// they are copied.
TEST(Schedule, moves_gradients_to_and_from_the_drive_whole) {
  auto const graph =
      gpt_training_graph({.layers = 2, .hidden = 84, .heads = 3, .vocab = 300, .sequence = 64});
  auto const program = drive_sums(graph, true, "device");
  int whole = 0;
  for (Item const& item : program.items) {
    if (item.lane != Lane::nvme_write || !is_of_gradient(program, item)) continue;
    auto const bytes = program.buffers[item.operands[0]].bytes;
    ASSERT_EQ(item.reads.size(), 1u);
    EXPECT_EQ(item.reads[0].first, 0);
    EXPECT_EQ(item.reads[0].last, bytes);
    EXPECT_EQ(item.writes[0].last, bytes);
    ++whole;
  }
  EXPECT_EQ(whole, 3 * (std::ssize(program.chunks) - 1)) << "of all chunks but the tied matrix";
}

TEST(Schedule, reduces_each_micro_batch_where_arithmetic_says_so) {
  Graph graph = small_gpt();
  graph.arithmetic.reduction = Reduction::each;
  Program const program = schedule_gpt(graph, {"keep"}, 3, 2);
  std::map<std::string, int> sums, gathers;
  for (Segment const& segment : program.segments) {
    for (auto i = segment.first; i < segment.last; ++i) {
      Item const& item = program.items[static_cast<std::size_t>(i)];
      gathers[segment.name] += item.kind == ItemKind::all_gather;
      if (item.kind != ItemKind::op || op_of(program, item).kind != OpKind::accumulate) continue;
      ++sums[segment.name];
      EXPECT_GT(gathers[segment.name], 0) << "joins the step's before it is summed over ranks";
    }
  }
  auto const uses = static_cast<int>(graph.chunks.size() + graph.parts.size());
  auto const added = static_cast<int>(graph.parts.size());
  for (char const* name : {"first", "middle", "last"}) EXPECT_EQ(gathers[name], uses) << name;
  EXPECT_EQ(gathers["update"], 0);
  EXPECT_EQ(sums["middle"], uses);
  EXPECT_EQ(sums["last"], uses + added);
}

}  // namespace
}  // namespace spillway::test::schedule_sums_test
