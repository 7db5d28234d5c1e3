// What a step's sums mean for the update: learning rate, clipping, bias corrections.
#pragma once

#include "config/config.hpp"
#include "runtime/commit.hpp"

namespace spillway {

// The gradient is that of the sum of losses: the update divides by the sum of weights and scales
// the norm of the mean down to `optim.clip` (as torch.nn.utils.clip_grad_norm_). A step is not
// finite when its loss or its norm is not. Where no token had weight there is `nothing`, neither a
// loss nor a norm.
// `updates`: those done before this step, fewer than the steps where some were skipped; AdamW's
// bias correction counts them.
CommitDecision decide_commit(OptimConfig const& optim, std::int64_t steps, std::int64_t updates,
                             CommitSums const& sums);

}  // namespace spillway
