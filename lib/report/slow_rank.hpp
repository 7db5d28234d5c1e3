// Finds the rank that the others wait for, while a run goes on.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/rank_wait.hpp"

namespace spillway {

// The others must wait longer for a slow rank than it waits itself, by this share of the time that
// steps take. A tenth is what a plan must gain before a run changes to it, and what `batch.share`
// can win back even where ranks have ten micro-batches each.
inline constexpr double kSlowShare = 0.1;
// A rank becomes slow, or is no longer, when so many looks in a row say so, and so many seconds of
// steps: one that is held up once is not slow, and what a run of seconds loses is nobody's concern.
inline constexpr int kSlowLooks = 3;
inline constexpr double kSlowSeconds = 30;

struct SlowRank {
  int rank = 0;
  double wait_s = 0;  // what each of the others waited for it, as a mean
};

// Returns the rank for which the others waited in `seconds` of steps, the first of equal ones, or
// nothing if no rank is slow. What all ranks wait alike is the network's, and makes none slow.
std::optional<SlowRank> slow_rank(std::span<MutualWait const> waits, double seconds);

// A SlowRankWatch decides by what it is shown of steps whether a rank is slow, and since when.
class SlowRankWatch {
 public:
  // Of ranks that a watch takes for slow; -1 stands for none.
  struct Change {
    int before = -1, now = -1;
    double wait_s = 0, step_s = 0;  // of a step, if one is slow now
  };
  struct Look {
    std::optional<SlowRank> slow = {};  // since the last look; its seconds are of a step
    std::optional<Change> change = {};
  };

  void add_step(double step_s, std::span<MutualWait const> waits);
  Look look();  // at the steps since the last look

 private:
  std::vector<MutualWait> m_waits;
  double m_seconds = 0, m_steps = 0;
  int m_slow = -1;  // the rank that is taken for slow
  int m_seen = -1;  // the one that the last look has found
  int m_in_a_row = 0;
  double m_in_a_row_s = 0;
};

// Returns texts such as "rank 3 (host n7)" or, if hosts are not known, "rank 3".
std::string rank_words(int rank, std::span<std::string const> hosts);
// Returns a text such as "the others wait 120 ms of each 800 ms step for it".
std::string wait_words(SlowRankWatch::Change const& change);

}  // namespace spillway
