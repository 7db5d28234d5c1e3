// Finds what a step's time is spent on: the chain of items of which each began when the one before
// it ended. The step gets shorter only if something in this chain does.
#pragma once

#include <string>
#include <vector>

#include "plan/data/program.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

struct PathPart {
  ItemNumber item = -1;
  double start_s = 0, end_s = 0;  // on the simulation's clock; the part before ends at start_s
  double repeated_s = 0;          // spent in the repetitions that the simulation leaves out

  double seconds() const { return end_s - start_s + repeated_s; }
};

// Covers the simulated step from its begin to its end; an item that was under way when the step
// before ended counts from then on. Of all that an item waited for, what ended last precedes it in
// the chain; if that is a tie with its own lane, the lane's item.
std::vector<PathPart> critical_path(Program const& program, Simulation const& simulation);

// Holds the seconds that the path spends on a lane, by kind of op or by what is moved.
struct LaneShare {
  Lane lane = Lane::compute;
  double seconds = 0;
  struct Kind {
    std::string name;
    double seconds = 0;
  };
  std::vector<Kind> kinds;
};
// Both the lanes and the kinds of each are in descending order of seconds.
std::vector<LaneShare> shares(Program const& program, std::vector<PathPart> const& path);

}  // namespace spillway
