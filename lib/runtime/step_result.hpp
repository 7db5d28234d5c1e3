// What one run of a Program gave, and where its time went.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "plan/data/program.hpp"
#include "runtime/commit.hpp"

namespace spillway {

// Times in seconds since the step began. An item waited from `ready_s` (its lane's turn) to
// `start_s`.
struct ItemTime {
  ItemNumber item = -1;
  double ready_s = 0, start_s = 0, end_s = 0;
};

// Where a lane's time went, and what it moved: of this rank, and of what has ended since the result
// before, for lanes other than compute may end a step's items in the next.
struct LaneUse {
  double busy_s = 0;   // at least one item was under way
  double stall_s = 0;  // an item had its turn, but waited for items of other lanes
  std::int64_t bytes = 0;
  bool operator==(LaneUse const&) const = default;
};

struct LaneReport {
  std::array<LaneUse, kLanes> use{};
  std::array<double, kLanes> compute_stall_s{};  // by the lane that was waited for
};

// Sums are over all ranks when the Program has a commit, else this rank's own.
struct StepResult {
  double loss_sum = 0, weight_sum = 0, grad_norm = 0, learning_rate = 0;
  CommitWord word = CommitWord::go;
  bool stop = false;  // some rank was asked to stop after this step
  double step_s = 0;
  LaneReport lanes;
};

inline constexpr std::size_t kOpKinds = 0
#define SPILLWAY_OP(name, rule) +1
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
    ;

// Seconds per op kind, on whatever lane the ops ran.
std::array<double, kOpKinds> seconds_by_kind(Program const& program,
                                             std::span<ItemTime const> times);

}  // namespace spillway
