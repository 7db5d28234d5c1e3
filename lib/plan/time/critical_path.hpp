// The critical path of a step is a chain of items, each of which began when the one before it
// ended. A step gets shorter only if an item in this chain does.
#pragma once

#include <string>
#include <vector>

#include "plan/data/program.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

struct PathPart {
  ItemNumber item = -1;
  double start_s = 0, end_s = 0;  // when the part begins and ends in the simulated step
  double repeated_s = 0;          // the part's time in repetitions that the simulation leaves out

  double seconds() const { return end_s - start_s + repeated_s; }
};

// Returns a chain that covers the simulated step from its begin to its end. An item that began in
// the step before counts from the begin of this step. Each item comes after the item that ended
// last among those it waited for. In a tie, it comes after the previous item on its own lane.
std::vector<PathPart> critical_path(Program const& program, Simulation const& simulation);

// A LaneShare is the time that a critical path spends on one lane, also by kind of op or data.
struct LaneShare {
  Lane lane = Lane::compute;
  double seconds = 0;
  struct Kind {
    std::string name;
    double seconds = 0;
  };
  std::vector<Kind> kinds;
};
// Returns the time that the path spends on each lane. Lanes, and the kinds of each lane, are sorted
// by seconds, longest first.
std::vector<LaneShare> shares(Program const& program, std::vector<PathPart> const& path);

}  // namespace spillway
