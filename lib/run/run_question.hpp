// Asks what plan a run shall have: its graphs, and the question about them.
#pragma once

#include <cstdint>
#include <optional>

#include "config/config.hpp"
#include "graph/graph.hpp"
#include "plan/search/solve.hpp"
#include "run/target.hpp"
#include "samples/batch_shape.hpp"

namespace spillway {

struct RunGraphs {
  Graph train;
  std::optional<Graph> eval;  // present if there is validation data
  BatchShape shape;
};
// Makes the graphs for micro-batches of the size that `choices` says.
RunGraphs run_graphs(Config const& config, std::int64_t vocab, Target const& target,
                     Choices const& choices);

// The graphs and the target must outlive the question.
PlanQuestion run_question(Config const& config, Target const& target, RunGraphs const& graphs);

}  // namespace spillway
