// A commit ends a step: all ranks see the same numbers and come to the same CommitWord.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "comm/rank_wait.hpp"
#include "graph/graph.hpp"

namespace spillway {

enum class CommitWord : std::uint8_t {
  go,             // The updates run.
  non_finite,     // The loss or the gradient norm is not finite, so nothing is updated.
  nothing,        // No token had weight, so there is nothing to learn, and nothing is updated.
  storage_error,  // A transfer failed on some rank. Nothing is updated; the step can run again.
  state_lost,     // A transfer of a committed step failed. Only the last checkpoint is whole.
};

// CommitSums are sums over all ranks and micro-batches of the step, added in the order of ranks.
struct CommitSums {
  std::int64_t step = 0;
  double loss_sum = 0, weight_sum = 0;
  double norm_squared = 0;  // the squared norm of the gradient of the sum of losses
};

struct CommitDecision {
  CommitWord word = CommitWord::go;         // A policy chooses one of the first three words.
  double grad_norm = 0, learning_rate = 0;  // These are only reported.
  ControlWords control{};                   // The engine sets `control_go` itself.
};

// A RankNote is what a rank's caller tells all ranks with a commit, so that they need no other
// message. What all of them learn is the largest of each value, so that they can act alike; of
// waits they learn each rank's own (see StepResult).
struct RankNote {
  bool stop = false;   // asks that the run stops after this step
  bool save = false;   // asks for a checkpoint after this step
  double step_s = 0;   // how long steps took on this rank, or 0 if it has watched too few
  RankWait wait = {};  // for other ranks, since the note before

  void join(RankNote const& other) {
    stop |= other.stop;
    save |= other.save;
    step_s = std::max(step_s, other.step_s);
  }
};

// A CommitPolicy is a pure function: equal sums give equal decisions on every rank. It does not
// throw and allocates nothing.
using CommitPolicy = std::function<CommitDecision(CommitSums const&)>;

}  // namespace spillway
