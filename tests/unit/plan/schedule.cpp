#include "plan/schedule/schedule.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "graph/build.hpp"
#include "plan/compile/compile.hpp"
#include "plan/data/plan.hpp"
#include "plan/data/program.hpp"
#include "plan/memory/lifetime.hpp"
#include "plan/search/solve.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::test::schedule_test {
namespace {

using Words = std::vector<std::string>;

// GPT-2 124M, built once.
Graph const& gpt2() {
  static Graph const graph = gpt_training_graph({});
  return graph;
}

Graph small_gpt() {
  return gpt_training_graph({.layers = 4, .hidden = 128, .heads = 4, .vocab = 300, .sequence = 64});
}

Program schedule_gpt(Graph const& graph, Words const& activations, int micro_batches = 1,
                     int ranks = 1, int prefetch = 0, Words const& update = {"device"}) {
  auto const plan = make_plan(
      graph, PlanWords{.activations = activations, .update = update, .prefetch = prefetch},
      BlockPolicy::keep);
  return schedule(graph, plan, micro_batches, ranks);
}

Op const& op_of(Program const& program, Item const& item) {
  return program.ops[static_cast<std::size_t>(item.op)];
}

std::vector<Item const*> items_on(Program const& program, Lane lane) {
  std::vector<Item const*> items;
  for (Item const& item : program.items) {
    if (item.lane == lane) items.push_back(&item);
  }
  return items;
}

std::int64_t most_alive(Program const& program) {
  auto const live = live_bytes(program, lifetimes(program), Tier::device);
  return *std::max_element(live.begin(), live.end());
}

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

TEST(Schedule, updates_a_chunk_on_the_host_lane_where_the_plan_says_so) {
  Program const program =
      schedule_gpt(small_gpt(), {"keep"}, 1, 1, 0, {"device", "host", "device"});
  for (Item const& item : program.items) {
    if (item.kind != ItemKind::op || op_of(program, item).kind != OpKind::adamw) continue;
    EXPECT_EQ(item.lane, item.chunk == 1 ? Lane::host : Lane::compute);
  }
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

TEST(Schedule, refuses_what_is_not_offered) {
  Graph const graph = small_gpt();
  Plan const good = make_plan(graph, PlanWords{.activations = {"keep"}}, BlockPolicy::keep);
  auto const refused = [&](auto change) {
    Plan plan = good;
    change(plan);
    EXPECT_THROW(schedule(graph, plan, 1, 1), std::invalid_argument);
  };
  refused([](Plan& p) { p.chunks[0].gradients = Tier::nvme; });
  refused([](Plan& p) { p.chunks[0].update = Tier::nvme; });
  refused([](Plan& p) { p.chunks.pop_back(); });
}

TEST(Schedule, says_what_is_not_offered) {
  Graph const graph = small_gpt();
  Plan const good = make_plan(graph, PlanWords{.activations = {"keep"}}, BlockPolicy::keep);
  auto const said = [&](auto change) {
    Plan plan = good;
    change(plan);
    return test::mistake<std::invalid_argument>([&] { schedule(graph, plan, 1, 1); });
  };
  EXPECT_EQ(said([](Plan&) {}), "");
  EXPECT_EQ(said([](Plan& p) { p.chunks[1].gradients = Tier::nvme; }),
            "plan.gradients: nvme is not offered by this version");
  EXPECT_EQ(said([](Plan& p) { p.chunks[1].update = Tier::nvme; }),
            "plan.update: nvme is not offered by this version");
  auto const other = "the plan is for another model: its blocks or chunks do not match";
  EXPECT_EQ(said([](Plan& p) { p.chunks.pop_back(); }), other);
  EXPECT_EQ(said([](Plan& p) { p.blocks.pop_back(); }), other);
  EXPECT_EQ(said([](Plan& p) { p.update_slice = 0; }), "update_slice: less than one element");
  EXPECT_EQ(said([](Plan& p) { p.update_slice = 1; }), "");
  auto const pieces = "staging_piece_bytes: not whole pieces of the spill file";
  for (std::int64_t const bytes : {std::int64_t{0}, kPieceBytes - 1, kPieceBytes + 4096})
    EXPECT_EQ(said([&](Plan& p) { p.staging_piece_bytes = bytes; }), pieces) << bytes;
  EXPECT_EQ(said([](Plan& p) { p.staging_piece_bytes = 3 * kPieceBytes; }), "");
}

// Who asks for a plan gets a normal one; another is our mistake.
TEST(Schedule, refuses_a_plan_that_is_not_normal) {
  Graph const graph = small_gpt();
  Plan const good = make_plan(graph, PlanWords{.activations = {"nvme:0.5"}}, BlockPolicy::keep);
  EXPECT_NO_THROW(schedule(graph, good, 1, 1));
  auto const refused = [&](auto change) {
    Plan plan = good;
    change(plan);
    EXPECT_FALSE(is_normal(graph, plan));
    EXPECT_THROW(schedule(graph, plan, 1, 1), std::logic_error);
    normalise(graph, plan);
    EXPECT_NO_THROW(schedule(graph, plan, 1, 1));
  };
  auto const layer = [&](Plan& p, bool last) -> BlockPlan& {
    std::size_t found = 0;
    for (std::size_t b = p.blocks.size(); b-- > 0;) {
      if (graph.blocks[b].layer && (found == 0 || !last)) found = b;
    }
    return p.blocks[found];
  };
  refused([&](Plan& p) { layer(p, true).policy = BlockPolicy::nvme; });  // its reload is too early
  refused([&](Plan& p) { layer(p, false) = {BlockPolicy::keep, 0.5}; });
  refused([](Plan& p) { p.blocks.back().policy = BlockPolicy::light; });  // no layer
}

}  // namespace
}  // namespace spillway::test::schedule_test
