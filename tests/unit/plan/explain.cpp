#include "plan/explain/explain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>
#include <sstream>

#include "plan/compile/compile.hpp"
#include "plan/data/budgets.hpp"
#include "plan/data/machine.hpp"
#include "plan/data/program.hpp"
#include "plan/search/solve.hpp"
#include "plan/time/simulate.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/hand_made.hpp"
#include "tests/support/plan_words.hpp"

namespace spillway::test::explain_test {
namespace {

constexpr std::int64_t kGib8 = std::int64_t{8} << 30;

std::string explained(PlanWords const& request, Budgets const& budgets = {kGib8, kGib8, kGib8},
                      bool unified = true) {
  static Graph const graph = gpt_training_graph({});
  auto plan = make_plan(graph, request, BlockPolicy::keep);
  plan.unified = unified;
  auto const ranks = unified ? 2 : 1;  // ranks exchange gradients in host memory
  auto const program = compile(graph, nullptr, plan, 2, ranks).train;
  auto const machine = Machine{400, 150, 20, 1, 1.5, 5, 5e-6};
  auto const simulation = simulate(program, machine);
  return explain(graph, plan, program, simulation,
                 shares(program, critical_path(program, simulation)), machine, budgets);
}

std::string with_single_spaces(std::string const& text) {
  return std::regex_replace(text, std::regex("\\s+"), " ");
}

// Whether the text has the part, wherever its lines are broken.
bool has(std::string const& text, std::string const& part) {
  return with_single_spaces(text).find(with_single_spaces(part)) != std::string::npos;
}

TEST(Explain, fits_on_one_screen) {
  auto const text = explained({.activations = {"nvme", "recompute", "host", "light", "keep"},
                               .parameters = {"device", "nvme"},
                               .gradients = {"host"},
                               .optimizer = {"nvme", "host"}});
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 72) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
}

TEST(Explain, begins_with_a_sentence) {
  EXPECT_EQ(explained({.activations = {"keep"}}).find("Fits with "), 0u);
  EXPECT_TRUE(has(explained({.activations = {"keep"}}), "to spare; nothing leaves the device"));
  auto const beside_a_device = explained({.activations = {"keep"}}, {kGib8, 0, 0}, false);
  EXPECT_TRUE(has(beside_a_device, "to spare; nothing leaves the device"));
  EXPECT_TRUE(has(beside_a_device, "host memory              - "));  // for batches and scalars
  EXPECT_TRUE(has(explained({.activations = {"nvme", "recompute", "nvme"}}),
                  "; activations: 10 of 12 layers spill, 1 recompute; "));
  EXPECT_TRUE(has(explained({.optimizer = {"host", "nvme"}}),
                  "; optimizer state in host memory and on NVMe; "));
}

TEST(Explain, counts_what_is_made_again_in_part_whatever_else_leaves) {
  EXPECT_TRUE(has(explained({.activations = {"light+nvme", "light", "keep"}}),
                  "; activations: 1 of 12 layers spill, 2 recompute what is cheap (1 does both)."));
  EXPECT_TRUE(has(explained({.activations = {"light+nvme", "recompute+nvme", "keep"}}),
                  "; activations: 2 of 12 layers spill, 1 recompute, 1 recompute what is cheap (2 "
                  "do both)."));
  EXPECT_FALSE(has(explained({.activations = {"keep"}}), "activations: "));
}

// The part after `name` in the text's line of that lane, after `from`.
std::string lane_line(std::string const& text, std::string const& name) {
  auto const at = text.find("\n  " + name + " ", text.find("How long everything is busy"));
  if (at == std::string::npos) return "";
  return text.substr(at + 1, text.find('\n', at + 1) - at - 1);
}

TEST(Explain, says_what_every_link_moves) {
  auto const state =
      lane_line(explained({.activations = {"keep"}, .optimizer = {"nvme"}}), "writing NVMe");
  // All of 124M parameters' optimizer state at 10 bytes each, and nothing else.
  EXPECT_TRUE(has(state, "1.16 GiB: optimizer state 1.16 GiB")) << state;
  auto const all =
      lane_line(explained({.activations = {"nvme"}, .parameters = {"nvme"}, .optimizer = {"nvme"}}),
                "reading NVMe");
  EXPECT_TRUE(all.ends_with(": optimizer state 1.16 GiB ...")) << all;  // no room for more
  auto const ranks = lane_line(explained({.activations = {"keep"}}), "talking to other ranks");
  EXPECT_TRUE(has(ranks, ": gradients 947 MiB")) << ranks;
}

TEST(Explain, says_what_is_left_of_each_budget) {
  Budgets const budgets{kGib8, kGib8, 2 * kGib8};
  auto const text = explained({.activations = {"keep"}, .optimizer = {"nvme"}}, budgets);
  EXPECT_TRUE(has(text, "device memory        8 GiB")) << text;
  EXPECT_TRUE(has(text, "NVMe                16 GiB")) << text;
  EXPECT_EQ(text.find("\n  host memory "), text.npos) << text;  // nothing is there
  EXPECT_TRUE(has(text, "tokens/s; 2 micro-batches of 2048 tokens on each of 2 ranks\n")) << text;
}

TEST(Explain, says_how_long_drives_last) {
  auto const spilling = explained({.activations = {"keep"}, .optimizer = {"nvme"}});
  EXPECT_TRUE(has(spilling, " a day; drives rated for 600 TB last ")) << spilling;
  EXPECT_EQ(has(spilling, " written a step by all ranks of a node, "), Machine{}.node_ranks > 1);
  EXPECT_TRUE(has(explained({.activations = {"keep"}}), "NVMe: nothing is written\n"));
}

TEST(Explain, names_what_sets_the_peak_and_the_pace) {
  auto const text = explained({.activations = {"keep"}});
  EXPECT_TRUE(has(text, ", in the backward pass at ")) << text;
  EXPECT_TRUE(has(text, " (item ")) << text;
  EXPECT_TRUE(has(text, " tensors, largest wte.gradient (")) << text;
  EXPECT_TRUE(has(text, "activations kept for later: ")) << text;
  EXPECT_TRUE(has(text, "\n  computing ")) << text;
  auto const slow = explained({.activations = {"keep"}, .optimizer = {"nvme"}});
  EXPECT_TRUE(has(slow, " of a step is ")) << slow;
  EXPECT_TRUE(has(slow, "optimizer state ")) << slow;
}

TEST(Explain, describes_an_item_by_number_lane_kind_and_subject) {
  static Graph const graph = gpt_training_graph({});
  auto const plan = make_plan(graph, PlanWords{.activations = {"nvme"}}, BlockPolicy::keep);
  auto const program = compile(graph, nullptr, plan, 1, 1).train;
  EXPECT_EQ(describe(program, 0).find("item 0 data load_batch"), 0u);
  auto const copy = std::find_if(program.items.begin(), program.items.end(),
                                 [](Item const& i) { return i.lane == Lane::nvme_write; });
  EXPECT_TRUE(has(describe(program, copy->number), " nvme_write copy h.0/"));
}

TEST(Explain, says_that_ranks_exchange_in_turn) {
  Graph const graph = gpt_training_graph({});
  auto const text = [&](bool overlap) {
    auto plan = make_plan(graph, PlanWords{}, BlockPolicy::keep);
    plan.unified = false;
    plan.exchanges_overlap = overlap;
    auto const program = compile(graph, nullptr, plan, 2, 2).train;
    auto const machine = Machine{400, 150, 20, 1, 1.5, 5, 5e-6};
    return explain(graph, plan, program, simulate(program, machine), {}, machine,
                   {kGib8, kGib8, 0});
  };
  EXPECT_TRUE(has(text(false), "one gradient after the other, as host memory is short."));
  EXPECT_FALSE(has(text(true), "one gradient after the other"));
}

TEST(Explain, warns_where_updates_begin_early) {
  auto const warning =
      "Updates begin beside the last backward pass: there a failed transfer ends the\n  run.\n";
  PlanWords words{.activations = {"keep"}, .optimizer = {"nvme"}};
  EXPECT_FALSE(has(explained(words), warning));
  words.norm_is_awaited = false;
  EXPECT_TRUE(has(explained(words), warning));
}

// What is said of a step of a Program without items.
std::string told(Program const& program, Simulation const& simulation, double filled,
                 std::int64_t node_ranks = 1, StepBound const& bound = {}) {
  auto const graph = gpt_training_graph(
      {.layers = 1, .hidden = 64, .heads = 4, .vocab = 211, .sequence = 16, .micro = 1});
  Machine machine;
  machine.node_ranks = node_ranks;
  machine.nvme_endurance_bytes = 600'000'000'000'000;
  return explain(graph, make_plan(graph, {}), program, simulation,
                 shares(program, critical_path(program, simulation)), machine, {kGib8, 0, 0},
                 {filled}, bound);
}

// Tokens of two stacks, of which each has 8 bytes here; half of the rows hold text.
TEST(Explain, counts_the_tokens_of_all_stacks_micro_batches_and_ranks_that_are_text) {
  HandMade made(3);
  auto& program = made.program;
  program.ranks = 2;
  for (std::int64_t const rows : {1024, 512, 4096}) made.buffer(Tier::device, 8 * rows);
  program.known.batch = {
      {BatchField::tokens, 0, 0}, {BatchField::tokens, 1, 1}, {BatchField::targets, 0, 2}};
  Simulation simulation;
  simulation.step_s = 512;
  EXPECT_TRUE(has(told(program, simulation, 0.5),
                  "\nPredicted: 8m32s a step, 9.00 tokens/s; 3 micro-batches of 1536 tokens on "
                  "each of 2 ranks\n"));
  EXPECT_TRUE(has(told(program, simulation, 1), " a step, 18 tokens/s; "));
  simulation.step_s = 0;
  EXPECT_TRUE(has(told(program, simulation, 1), "\nPredicted: 0 s a step, 0.00 tokens/s; "));
  program.micro_batches = program.ranks = 1;
  EXPECT_TRUE(has(told(program, simulation, 1), "; one micro-batch of 1536 tokens on 1 rank\n"));
}

TEST(Explain, says_how_far_any_plan_may_be_ahead_and_why) {
  Program program;
  Simulation simulation;
  simulation.step_s = 10;
  auto const said = [&](double bound_s, BoundGap const& gap) {
    return told(program, simulation, 1, 1, {bound_s, "computing", gap});
  };
  EXPECT_FALSE(has(said(0, {}), "by any plan"));
  EXPECT_TRUE(has(said(9.8, {0.1, 0, 0}), "\n  at least 9.8 s by any plan, gap 2 %: computing\n"));
  EXPECT_TRUE(has(said(8, {0.5, 0.4, 1.1}), ", gap 20 %: computing; the gap: waits of lanes\n"));
  EXPECT_TRUE(has(said(8, {0, 1.5, 0.5}), "; the gap: what becomes of activations\n"));
  EXPECT_TRUE(has(said(8, {1, 0.5, 0.5}), "; the gap: where state lies and who updates it\n"));
}

TEST(Explain, counts_what_all_ranks_of_a_node_write) {
  Program program;
  Simulation simulation;
  simulation.step_s = 100;
  simulation.bytes[Lane::nvme_write] = 3'000'000'000;
  simulation.bytes[Lane::nvme_read] = 5'000'000'000;
  auto const said = [&](std::int64_t ranks, std::int64_t node_ranks) {
    program.ranks = ranks;
    return told(program, simulation, 1, node_ranks);
  };
  constexpr auto of_one =
      "  NVMe: 3 GB written a step, 2.59 TB a day; drives rated for 600 TB last 231 days at this "
      "rate";
  EXPECT_TRUE(has(said(1, 4), of_one));
  EXPECT_TRUE(has(said(2, 1), of_one));
  EXPECT_TRUE(has(said(2, 4),
                  "  NVMe: 6 GB written a step by all ranks of a node, 5.18 TB a day; drives rated "
                  "for 600 TB last 116 days at this rate"));
}

}  // namespace
}  // namespace spillway::test::explain_test
