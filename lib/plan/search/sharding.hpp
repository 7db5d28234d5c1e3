// What it costs, by estimates, that ranks share out chunks.
#pragma once

#include "plan/search/block_model.hpp"

namespace spillway {

// Sets what ranks send, and BlockModel::shared: ranks divide a chunk's optimizer state and its
// update and, for `all`, also its parameters. Sums of gradients are divided once ranks have summed
// them, whatever is shared out; before that they are whole, unless every micro-batch is summed.
void share_out(BlockModel& model);

}  // namespace spillway
