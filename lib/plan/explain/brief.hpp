// Tells of a plan what fits the head of a log.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plan/bound/step_bound.hpp"
#include "plan/data/budgets.hpp"
#include "plan/data/machine.hpp"
#include "plan/time/critical_path.hpp"

namespace spillway {

inline constexpr std::ptrdiff_t kBriefLines = 20;

// Returns a text of at most kBriefLines lines of at most kPageColumns (base/wrapped.hpp): the
// verdict, the bound, tiers, drives, and the plan in letters. What does not fit is left out.
std::string brief(Graph const& graph, Plan const& plan, Program const& program,
                  Simulation const& simulation, std::vector<LaneShare> const& path,
                  Machine const& machine, Budgets const& budgets, StepBound const& bound);

// The parts of a plan in letters, as `picture` draws it. All are empty if there are no layers.
struct BriefPicture {
  std::string layers;       // activations, and what is not alike in all layers
  std::string activations;  // activations alone, for models whose layers take several rows
  std::string alike;        // what is alike in all layers
  std::string letters;      // what the letters mean
};
BriefPicture brief_picture(Graph const& graph, Plan const& plan);

}  // namespace spillway
