#include "plan/explain/brief.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "plan/compile/compile.hpp"
#include "plan/search/solve.hpp"
#include "tests/support/gpt_graph.hpp"
#include "tests/support/plan_words.hpp"

namespace spillway::test::brief_test {
namespace {

constexpr std::int64_t kGib8 = std::int64_t{8} << 30;

std::string told(std::int64_t layers, PlanWords const& words) {
  auto const graph = gpt_training_graph({.layers = layers, .hidden = 128, .heads = 4});
  auto plan = make_plan(graph, words, BlockPolicy::keep);
  plan.unified = true;
  auto const program = compile(graph, nullptr, plan, 2, 2).train;
  auto const machine = Machine{400, 150, 20, 1, 1.5, 5, 5e-6};
  auto const simulation = simulate(program, machine);
  return brief(graph, plan, program, simulation,
               shares(program, critical_path(program, simulation)), machine, {kGib8, kGib8, kGib8},
               {0.9 * simulation.step_s, "computing", {0.1, 0, 0}});
}

PlanWords const kBusy = {
    .activations = {"nvme", "recompute", "host", "light", "light+nvme", "keep"},
    .parameters = {"device", "nvme"},
    .gradients = {"host", "device"},
    .optimizer = {"nvme", "host"}};

TEST(Brief, is_at_most_twenty_lines_of_eighty_columns) {
  for (std::int64_t const layers : {6, 12, 60, 61, 130}) {
    for (auto const& words : {kBusy, PlanWords{}}) {
      auto const text = told(layers, words);
      EXPECT_LE(std::ranges::count(text, '\n'), kBriefLines) << text;
      std::istringstream lines(text);
      for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 80u) << line;
    }
  }
}

TEST(Brief, has_the_verdict_tiers_and_letters_of_activations_whatever_the_size) {
  for (std::int64_t const layers : {6, 12, 60, 61, 130}) {
    for (auto const& words : {kBusy, PlanWords{}}) {
      auto const text = told(layers, words);
      EXPECT_TRUE(text.starts_with("Fits with ")) << text;
      for (auto const* part : {"  at least ", "  device memory ", "  activations      "})
        EXPECT_NE(text.find(std::string("\n") + part), text.npos) << part << text;
    }
  }
}

TEST(Brief, draws_what_differs_and_names_what_does_not) {
  auto const text = told(12, {.activations = {"nvme", "keep"}, .optimizer = {"host"}});
  EXPECT_NE(text.find("\n  activations      NKKKKKKKKKKK\n"
                      "  in all layers    parameters D, gradients D, optimizer state H, "),
            text.npos)
      << text;
  EXPECT_NE(text.find("\n  K 11 layers: "), text.npos) << text;
  EXPECT_NE(text.find("\n  D device memory, H host memory\n"), text.npos) << text;
  auto const varied =
      told(12, {.activations = {"keep"}, .optimizer = {"device", "device", "host", "device"}});
  EXPECT_NE(varied.find("\n  optimizer state  HDDDDDDDDDDD\n"), text.npos) << varied;
}

}  // namespace
}  // namespace spillway::test::brief_test
