// A StepResult describes what one run of a Program gave, and where its time went.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/steady_clock.hpp"
#include "comm/rank_wait.hpp"
#include "plan/data/item_time.hpp"
#include "runtime/commit.hpp"
#include "runtime/work_part.hpp"

namespace spillway {

// RunTimes tell when the items of a run began and ended, in total order. All of them have ended.
struct RunTimes {
  std::int64_t step = 0;
  SteadyClock::time_point begin;
  double step_s = 0;  // how long the run took before the next one could begin
  CommitWord word = CommitWord::go;
  std::span<ItemTime const> times;
};

// Says how a lane of this rank spent its time and how many bytes it moved. A LaneUse covers items
// that ended since the last result, since lanes other than compute may end a step's items during
// the next step.
struct LaneUse {
  double busy_s = 0;   // how long at least one item was under way
  double stall_s = 0;  // how long an item had its turn, but waited for items of other lanes
  std::int64_t bytes = 0;
  bool operator==(LaneUse const&) const = default;
};

struct LaneReport {
  std::array<LaneUse, kLanes> use{};
  std::array<double, kLanes> compute_stall_s{};  // by the lane for which compute waited
  WorkSeconds compute_work_s{};                  // by what compute was busy with
};

// In a StepResult, loss_sum and weight_sum are sums over all ranks if the Program has a commit, and
// this rank's own sums if not.
struct StepResult {
  double loss_sum = 0, weight_sum = 0, grad_norm = 0, learning_rate = 0;
  CommitWord word = CommitWord::go;
  RankNote note;  // what all ranks together have told each other with the commit
  std::span<MutualWait const> waits = {};  // by rank, as they told; valid until the next step
  double step_s = 0;
  LaneReport lanes;
};

inline constexpr std::size_t kOpKinds = 0
#define SPILLWAY_OP(name, rule, operands) +1
#include "graph/op_kinds.def"
#undef SPILLWAY_OP
    ;

// Returns the seconds that ops of each kind took, whichever lane they ran on.
std::array<double, kOpKinds> seconds_by_kind(Program const& program,
                                             std::span<ItemTime const> times);

}  // namespace spillway
