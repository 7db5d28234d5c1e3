#include "train/commit_policy.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/optimizers/update_rule.hpp"
#include "train/learning_rate.hpp"

namespace spillway {
namespace {

constexpr double kClipEpsilon = 1e-6;  // equal to the constant in torch.nn.utils.clip_grad_norm_

bool is_finite(CommitSums const& sums) {
  return std::isfinite(sums.loss_sum) && std::isfinite(sums.norm_squared);
}

}  // namespace

CommitDecision decide_commit(OptimConfig const& optim, std::int64_t steps, std::int64_t updates,
                             CommitSums const& sums) {
  CommitDecision decision;
  decision.learning_rate = learning_rate(optim, steps, sums.step);
  if (sums.weight_sum == 0 && is_finite(sums)) {
    decision.word = CommitWord::nothing;
    decision.grad_norm = std::numeric_limits<double>::quiet_NaN();
    return decision;
  }
  double const mean = 1 / sums.weight_sum;
  double const count = static_cast<double>(updates + 1);
  decision.grad_norm = std::sqrt(sums.norm_squared) * mean;
  bool const finite = std::isfinite(sums.loss_sum) && std::isfinite(decision.grad_norm);
  decision.word = finite ? CommitWord::go : CommitWord::non_finite;
  double const clip = optim.clip > 0 ? optim.clip / (decision.grad_norm + kClipEpsilon) : 1;
  decision.control[control_gradient_scale] = mean * std::min(1.0, clip);
  decision.control[control_learning_rate] = decision.learning_rate;
  decision.control[control_update] = count;
  update_rule(optim.name).write_control(optim, count, decision.control);
  return decision;
}

}  // namespace spillway
