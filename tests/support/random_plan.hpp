// Draws random models and Plans. Tests compile these into Programs and prove the Programs correct.
#pragma once

#include <random>

#include "plan/data/plan.hpp"
#include "tests/support/gpt_graph.hpp"

namespace spillway::test {

GptShape random_shape(std::mt19937& draws);
// Draws any policy for each layer and any tiers for each chunk, and makes the Plan normal.
Plan random_plan(Graph const& graph, std::mt19937& draws);

}  // namespace spillway::test
