// A Plan as text.
#pragma once

#include <string>

#include "graph/graph.hpp"
#include "plan/data/plan.hpp"

namespace spillway {

// YAML with the keys of the input file's `plan` section: plan.yaml, and `plan.file`. Read back by
// lib/config and `make_plan`.
std::string to_yaml(Plan const& plan, Graph const& graph);

}  // namespace spillway
