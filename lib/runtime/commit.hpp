// How a step ends: all ranks see the same numbers and decide the same word.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "graph/graph.hpp"

namespace spillway {

enum class CommitWord : std::uint8_t {
  go,             // the updates run
  non_finite,     // loss or gradient norm is not finite; nothing is updated
  nothing,        // no token had weight: there is nothing to learn, and nothing is updated
  storage_error,  // a transfer failed on some rank; nothing is updated, the step can run again
  state_lost,     // one of a committed step did: only the last checkpoint is whole
};

// Over all ranks and micro-batches of the step, added in rank order.
struct CommitSums {
  std::int64_t step = 0;
  double loss_sum = 0, weight_sum = 0;
  double norm_squared = 0;  // of the gradient of the sum of losses
};

struct CommitDecision {
  CommitWord word = CommitWord::go;             // a policy says one of the first three
  double grad_norm = 0, learning_rate = 0;      // for reports
  std::array<double, kControlWords> control{};  // `control_go` is the engine's
};

// Pure: equal sums give equal decisions on every rank. Does not throw or allocate.
using CommitPolicy = std::function<CommitDecision(CommitSums const&)>;

}  // namespace spillway
