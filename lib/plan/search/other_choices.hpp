// Makes plans that differ from a given one in one choice.
#pragma once

#include <string_view>
#include <vector>

#include "plan/search/solve.hpp"

namespace spillway {

struct OtherPlan {
  std::string_view words;  // for people
  std::string_view key;    // what forces the choice
  Plan plan;
  bool gives_up = false;  // whether it gives up something that the user asked for
};

// Returns the nearest plans that make another choice where the user left it open: one layer more
// that keeps its activations, nothing recomputed, recomputing instead of spilling, state on the
// device or in host memory instead of NVMe, updates elsewhere, another prefetch or group, other
// sharing, and no clipping. Those that would be no change are left out.
std::vector<OtherPlan> other_choices(PlanQuestion const& question, Plan const& plan);

}  // namespace spillway
