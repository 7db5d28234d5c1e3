// Models and Plans drawn at random, and how they are compiled and proved.
#pragma once

#include <random>

#include "plan/passes.hpp"
#include "support/gpt_graph.hpp"

namespace spillway::test {

GptShape random_shape(std::mt19937& draws);
// Any fate of any layer, any places of any chunk.
Plan random_plan(Graph const& graph, std::mt19937& draws);
// As `compile`, of Plans that no spill file could run: their slices may be smaller than its pieces,
// so that small graphs have many.
Compiled compile_slices(Graph const& train, Graph const* eval, Plan const& plan,
                        std::int64_t micro_batches, std::int64_t ranks);

}  // namespace spillway::test
