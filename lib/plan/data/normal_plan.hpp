// The one form of a Plan that is scheduled.
#pragma once

#include "graph/graph.hpp"
#include "plan/data/plan.hpp"

namespace spillway {

// Only layers leave `keep`. Nothing of the last layer leaves the device, because its reload would
// start before its write ends. Fractions are 1 where nothing leaves.
void normalise(Graph const& graph, Plan& plan);
bool is_normal(Graph const& graph, Plan const& plan);

}  // namespace spillway
