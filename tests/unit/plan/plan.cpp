#include "plan/data/plan.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "plan/compile/compile.hpp"
#include "plan/data/open_plan.hpp"
#include "plan/explain/explain.hpp"
#include "tests/support/plan_words.hpp"
#include "tests/support/tiny_gpt.hpp"
#include "tests/unit/plan/solve_case.hpp"

namespace spillway::test::plan_test {
namespace {

using solve_case::graph, solve_case::Words;

TEST(Plan, repeats_the_last_entry_of_a_lists) {
  Plan const plan = make_plan(
      graph(),
      PlanWords{.activations = {"keep", "nvme"}, .update = {"host", "device"}, .prefetch = 3},
      BlockPolicy::keep);
  std::vector<BlockPolicy> layers;
  for (std::size_t b = 0; b < graph().blocks.size(); ++b) {
    if (graph().blocks[b].layer) layers.push_back(plan.blocks[b].policy);
  }
  EXPECT_EQ(layers, (std::vector{BlockPolicy::keep, BlockPolicy::nvme, BlockPolicy::nvme,
                                 BlockPolicy::keep}));  // nothing of the last one leaves
  EXPECT_EQ(plan.chunks[0].update, Tier::host);
  EXPECT_EQ(plan.chunks.back().update, Tier::device);
  EXPECT_EQ(plan.prefetch, 3);
}

TEST(Plan, reads_a_fraction_of_rows) {
  Plan const plan = make_plan(graph(), PlanWords{.activations = {"nvme:0.5"}}, BlockPolicy::keep);
  EXPECT_EQ(plan.blocks[1], (BlockPlan{BlockPolicy::nvme, 0.5}));
}

TEST(Plan, refuses_lists_that_are_longer_than_the_model) {
  auto const error_of = [](Words const& activations, Words const& update) -> std::string {
    try {
      make_plan(graph(), PlanWords{.activations = activations, .update = update},
                BlockPolicy::keep);
      return "no error";
    } catch (std::invalid_argument const& error) {
      return error.what();
    }
  };
  auto const chunks = graph().chunks.size();
  EXPECT_EQ(error_of(Words(4, "keep"), Words(chunks, "host")), "no error");
  EXPECT_EQ(error_of(Words(5, "keep"), {"auto"}), "plan.activations: a list of 5 for 4 layers");
  EXPECT_EQ(error_of({"keep"}, Words(chunks + 1, "host")),
            "plan.update: a list of " + std::to_string(chunks + 1) + " for " +
                std::to_string(chunks) + " chunks");
}

TEST(Plan, has_slices_of_at_least_one_element) {
  auto plan = make_plan(graph(), PlanWords{.optimizer = {"nvme"}}, BlockPolicy::keep);
  plan.update_slice = 0;
  EXPECT_THROW(compile(graph(), nullptr, plan, 1, 1), std::invalid_argument);
}

TEST(Plan, is_written_with_the_keys_of_the_input_file) {
  auto const plan = make_plan(
      graph(),
      PlanWords{
          .activations = {"keep", "light+nvme:0.5"}, .update = {"host", "device"}, .prefetch = 2},
      BlockPolicy::keep);
  auto const text = to_yaml(plan, graph());
  EXPECT_EQ(text.find("activations:\n  - keep        # h.0\n  - light+nvme:0.5 # h.1\n"), 0u)
      << text;
  EXPECT_NE(text.find("update:\n  - host "), std::string::npos);
  EXPECT_NE(text.find("prefetch: 2\n"), std::string::npos);
}

// Of a chunk that is not trained there is neither gradient nor optimizer state, and no update.
TEST(Plan, that_is_chosen_has_of_frozen_chunks_but_places_of_parameters) {
  auto config = tiny_config();
  config.model.freeze = {"transformer.h.0.*"};
  auto const frozen = tiny_training_graph(config);
  PlanWords const words{
      .parameters = {"host"}, .gradients = {"host"}, .optimizer = {"nvme"}, .update = {"host"}};
  auto const solution = solve({frozen,
                               nullptr,
                               words,
                               {solve_case::kPlenty, solve_case::kPlenty, solve_case::kPlenty},
                               solve_case::machine(),
                               1,
                               1});
  ASSERT_TRUE(solution.chosen);
  auto const& plan = solution.chosen->plan;
  ChunkPlan const trained{Tier::host, Tier::host, Tier::nvme, Tier::host}, left{Tier::host};
  std::size_t seen = 0;
  for (Chunk const& chunk : frozen.chunks) {
    EXPECT_EQ(plan.chunks[chunk.id], chunk.trainable ? trained : left) << chunk.name;
    seen += chunk.trainable ? 0 : 1;
  }
  EXPECT_GT(seen, 0u);
  auto const text = picture(frozen, plan, 1);
  EXPECT_EQ(text.find("D the threads that compute"), text.npos) << text;
}

}  // namespace
}  // namespace spillway::test::plan_test
