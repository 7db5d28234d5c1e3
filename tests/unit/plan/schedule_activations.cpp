// What becomes of activations: what is written, read again or computed again, and when.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "plan/data/program.hpp"
#include "plan/memory/lifetime.hpp"
#include "tests/unit/plan/schedule_case.hpp"

namespace spillway::test::schedule_activations_test {
namespace {

using schedule_case::gpt2, schedule_case::items_on, schedule_case::op_of,
    schedule_case::schedule_gpt, schedule_case::small_gpt;

std::int64_t most_alive(Program const& program) {
  auto const live = live_bytes(program, lifetimes(program), Tier::device);
  return *std::max_element(live.begin(), live.end());
}

TEST(Schedule, spills_a_tensor_once_and_reloads_it_once) {
  Program const program = schedule_gpt(gpt2(), {"nvme"});
  std::multiset<TensorId> written, read;
  for (Item const* item : items_on(program, Lane::nvme_write)) {
    written.insert(program.buffers[static_cast<std::size_t>(item->operands[0])].tensor);
  }
  for (Item const* item : items_on(program, Lane::nvme_read)) {
    read.insert(program.buffers[static_cast<std::size_t>(item->operands[1])].tensor);
  }
  EXPECT_GT(written.size(), 60u);
  EXPECT_EQ(written, read);
  EXPECT_EQ(std::set<TensorId>(written.begin(), written.end()).size(), written.size());
}

TEST(Schedule, keeps_the_last_layer_whose_reload_would_start_before_its_write_ends) {
  Program const program = schedule_gpt(gpt2(), {"nvme"});
  std::set<int> blocks;
  for (Item const* item : items_on(program, Lane::nvme_read)) blocks.insert(item->block);
  for (int b = 0; b < static_cast<int>(gpt2().blocks.size()); ++b) {
    bool const layer = gpt2().blocks[static_cast<std::size_t>(b)].layer;
    bool const last = b + 2 == static_cast<int>(gpt2().blocks.size());
    EXPECT_EQ(blocks.contains(b), layer && !last)
        << gpt2().blocks[static_cast<std::size_t>(b)].name;
  }
}

TEST(Schedule, gives_a_spill_until_the_end_of_the_next_block) {
  Program const program = schedule_gpt(gpt2(), {"nvme"});
  for (Item const* item : items_on(program, Lane::nvme_write)) {
    ASSERT_GT(item->horizon, item->number);
    EXPECT_EQ(program.items[static_cast<std::size_t>(item->horizon)].block, item->block + 1);
  }
}

TEST(Schedule, recomputes_only_what_the_backward_pass_reads) {
  Graph const graph = small_gpt();
  Program const kept = schedule_gpt(graph, {"keep"});
  Program const again = schedule_gpt(graph, {"recompute"});
  std::map<int, int> runs;
  for (Item const& item : again.items) {
    if (item.kind == ItemKind::op) ++runs[item.op];
  }
  std::set<TensorId> read;
  for (Item const& item : again.items) {
    for (Access const& access : item.reads) read.insert(access.buffer);
  }
  int repeated = 0;
  for (Op const& op : graph.ops) {
    if (op.phase != Phase::forward || op.elided) continue;
    bool const layer = graph.blocks[static_cast<std::size_t>(op.block)].layer;
    EXPECT_LE(runs[op.id], layer ? 2 : 1) << op.name;
    repeated += runs[op.id] - 1;
  }
  EXPECT_GT(repeated, 4 * 4);  // layer norms, qkv, attention, fc, gelu
  // The product at a layer's end makes the next layer's input and nothing else.
  for (Item const& item : again.items) {
    bool const written_for_something =
        item.kind != ItemKind::op || op_of(again, item).phase != Phase::forward ||
        std::any_of(item.writes.begin(), item.writes.end(),
                    [&](Access const& w) { return read.contains(w.buffer); });
    EXPECT_TRUE(written_for_something) << describe(again, item.number);
  }
  EXPECT_EQ(again.items.size() - kept.items.size(), static_cast<std::size_t>(repeated));
}

TEST(Schedule, hoists_reloads_without_raising_the_peak) {
  Program const on_demand = schedule_gpt(gpt2(), {"nvme"}, 2);
  Program const hoisted = schedule_gpt(gpt2(), {"nvme"}, 2, 1, 2);
  EXPECT_LE(most_alive(hoisted), most_alive(on_demand));
  auto const before = items_on(on_demand, Lane::nvme_read);
  auto const after = items_on(hoisted, Lane::nvme_read);
  ASSERT_EQ(before.size(), after.size());
  int earlier = 0;
  for (std::size_t i = 0; i < before.size(); ++i) earlier += after[i]->number < before[i]->number;
  EXPECT_GT(earlier, static_cast<int>(before.size()) / 2);
}

}  // namespace
}  // namespace spillway::test::schedule_activations_test
