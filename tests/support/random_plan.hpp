// Models and Plans drawn at random, to be compiled and proved.
#pragma once

#include <random>

#include "plan/data/plan.hpp"
#include "support/gpt_graph.hpp"

namespace spillway::test {

GptShape random_shape(std::mt19937& draws);
// Any fate of any layer, any places of any chunk.
Plan random_plan(Graph const& graph, std::mt19937& draws);

}  // namespace spillway::test
