// What a question leaves open, and the model of its blocks that estimates go by.
#pragma once

#include "plan/data/open_plan.hpp"
#include "plan/search/block_model.hpp"
#include "plan/search/solve.hpp"

namespace spillway {

// Throws std::invalid_argument for a request that is not supported.
OpenPlan open_for(PlanQuestion const& question);
BlockModel model_for(PlanQuestion const& question, OpenPlan const& open);

// Has ranks share out that much wherever the user has left it open, and returns whether that is
// anywhere.
bool share_out_what_is_open(OpenPlan& open, Shard shard);

}  // namespace spillway
