// Decides from the sums of a step how it is committed: learning rate, clipping, and the optimizer's
// own control words.
#pragma once

#include "config/config.hpp"
#include "runtime/commit.hpp"

namespace spillway {

// The gradient is that of the sum of losses, so the update divides it by the sum of weights. The
// norm of the mean is scaled down to `optim.clip`, as by torch.nn.utils.clip_grad_norm_. The word
// is `non_finite` if the loss or the norm is not finite, and `nothing` if no token had weight.
// `updates` counts the updates before this step, which are fewer than the steps if some were
// skipped. The optimizer's control words depend on it.
CommitDecision decide_commit(OptimConfig const& optim, std::int64_t steps, std::int64_t updates,
                             CommitSums const& sums);

}  // namespace spillway
