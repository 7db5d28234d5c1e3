#include <gtest/gtest.h>

#include <algorithm>

#include "plan/passes.hpp"
#include "plan/solve.hpp"
#include "support/gpt_graph.hpp"

namespace spillway::test {
namespace {

std::string explained(std::vector<std::string> const& activations) {
  static Graph const graph = gpt_training_graph({});
  auto const plan = make_plan(graph, {.activations = activations, .update = {"host", "device"}},
                              BlockPolicy::keep);
  auto const program = compile(graph, nullptr, plan, 2, 2).train;
  auto const machine = Machine{400, 150, 20, 1, 1.5, 5, 5e-6};
  return explain(graph, plan, program, simulate(program, machine), {std::int64_t{8} << 30});
}

bool has(std::string const& text, std::string const& part) {
  return text.find(part) != std::string::npos;
}

TEST(Explain, FitsOnOneScreen) {
  auto const text = explained({"nvme"});
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 30) << text;
}

TEST(Explain, SaysWhereBlocksAndChunksGo) {
  auto const text = explained({"nvme", "recompute", "nvme"});
  EXPECT_TRUE(has(text, "h.1                      recompute")) << text;
  EXPECT_TRUE(has(text, "h.2 to h.10 (9)          nvme")) << text;
  EXPECT_TRUE(has(text, "h.11                     keep")) << text;  // the last layer
  EXPECT_TRUE(has(text, "wte                      device      device     device     host")) << text;
  EXPECT_TRUE(has(text, "nvme    peak")) << text;
}

TEST(Explain, NamesWhatSetsThePeak) {
  auto const text = explained({"keep"});
  EXPECT_TRUE(has(text, "device peak at item")) << text;
  EXPECT_TRUE(has(text, "wte.gradient")) << text;
  EXPECT_TRUE(has(text, "to spare; nothing leaves the device.")) << text;
}

TEST(Explain, DescribesAnItemByNumberLaneKindAndSubject) {
  static Graph const graph = gpt_training_graph({});
  auto const plan = make_plan(graph, {.activations = {"nvme"}}, BlockPolicy::keep);
  auto const program = compile(graph, nullptr, plan, 1, 1).train;
  EXPECT_EQ(describe(program, 0).find("item 0 h2d load_batch"), 0u);
  auto const copy = std::find_if(program.items.begin(), program.items.end(),
                                 [](Item const& i) { return i.lane == Lane::nvme_write; });
  EXPECT_TRUE(has(describe(program, copy->number), " nvme_write copy h.0/"));
}

}  // namespace
}  // namespace spillway::test
