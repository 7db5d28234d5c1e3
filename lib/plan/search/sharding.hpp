// What it costs, by estimates, that ranks share out chunks.
#pragma once

#include "plan/search/block_model.hpp"

namespace spillway {

// Adds to BlockModel::shared what ranks keep and send if so many of them keep a copy together: they
// divide a chunk's optimizer state and its update and, for `all`, also its parameters. Sums of
// gradients are divided once ranks have summed them, whatever is shared out; before that they are
// whole, unless every micro-batch is summed.
void share_out(BlockModel& model, std::int64_t sharers);

}  // namespace spillway
