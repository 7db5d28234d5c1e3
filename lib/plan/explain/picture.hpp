// A Plan drawn in letters: a column per layer.
#pragma once

#include <string>

#include "plan/data/plan.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// What happens to each layer's activations and where its parameters, gradients and optimizer state
// lie, with a legend of the letters that occur; then the chunks that belong to no layer. Updates on
// the host lane are by `host_threads`.
std::string picture(Graph const& graph, Plan const& plan, std::int64_t host_threads = 1);

}  // namespace spillway
