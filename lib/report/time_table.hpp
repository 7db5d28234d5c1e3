// Says where the time of training went, as a table for people and for programs.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/step_result.hpp"

namespace spillway {

// TrainingTimes are the seconds that a rank spent in each part of its training. Those of the steps
// are of the compute lane: at work, or waiting for another lane.
struct TrainingTimes {
  WorkSeconds work_s{};
  std::array<double, kLanes> waits_s{};  // by the lane for which compute waited
  double evaluation_s = 0, saving_s = 0;
  double failed_s = 0;      // of steps whose transfers failed, which were then run again
  double replanning_s = 0;  // of looking for other plans, and of changing to them
  double whole_s = 0;       // of training, with what belongs to no part

  TrainingTimes& operator+=(TrainingTimes const& more);
  double other_s() const;  // what the whole has more than the parts
};

// A row's `part` is its name in summary.json. People read `words` instead, where there are any.
struct TimeRow {
  std::string part;
  double min_s = 0, avg_s = 0, max_s = 0;  // over ranks
  std::optional<double> predicted_s = {};
  std::string words = {};
};

// The rows `parts` add up to the row `whole`. Parts that took no time on any rank are left out.
struct TimeTable {
  std::size_t ranks = 1;
  std::vector<TimeRow> parts;
  TimeRow whole;
};

// Makes the table of all ranks' times. Parts of `predicted` that are 0 have no prediction.
TimeTable time_table(std::span<TrainingTimes const> ranks, TrainingTimes const& predicted);

// Returns the table as lines, with four digits of the whole, without parts that round to nothing on
// all ranks.
std::string to_text(TimeTable const& table);

}  // namespace spillway
