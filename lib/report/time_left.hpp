// A TimeLeft says what a run has still to do, and how long that takes.
#pragma once

#include <cstdint>

namespace spillway {

struct TimeLeft {
  std::int64_t steps = 0, evaluations = 0, saves = 0;
  double steps_s = 0, evaluations_s = 0, saves_s = 0;

  double seconds() const { return steps_s + evaluations_s + saves_s; }
};

}  // namespace spillway
