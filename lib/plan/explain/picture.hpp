// Draws a Plan in letters, with a column for each layer.
#pragma once

#include <string>

#include "plan/data/plan.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// Shows what happens to each layer's activations and where its parameters, gradients and optimizer
// state lie. A legend explains the letters that occur and names `host_threads`, the number of
// threads that run updates on the host lane. Then follow the chunks that belong to no layer.
std::string picture(Graph const& graph, Plan const& plan, std::int64_t host_threads = 1);

}  // namespace spillway
