// The searches that answer a question, one after the other: with more and more shared out by ranks,
// without the drive, from other beginnings, by walks, and near what is best.
#pragma once

#include "plan/data/open_plan.hpp"
#include "plan/search/estimate.hpp"
#include "plan/search/solve.hpp"

namespace spillway {

// `open` is what the question leaves open.
Solution search_all_ways(PlanQuestion const& question, OpenPlan const& open,
                         Estimator const& estimator);

}  // namespace spillway
