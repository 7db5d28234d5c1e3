// What a step's time is spent on: the chain of items of which each began when the one before it
// ended. No other work, however much, makes the step longer; less of this makes it shorter.
#pragma once

#include <string>
#include <vector>

#include "plan/data/program.hpp"
#include "plan/time/simulate.hpp"

namespace spillway {

struct PathPart {
  ItemNumber item = -1;
  double start_s = 0, end_s = 0;  // among the spans; each part begins where the one before ends
  double repeated_s = 0;          // beside them: in the repetitions that the spans leave out

  double seconds() const { return end_s - start_s + repeated_s; }
};

// Of the simulated step, from its begin to its end. An item that was under way when the step before
// ended counts from then on. Of what an item waited for, what ended last; its own lane if both did.
std::vector<PathPart> critical_path(Program const& program, Simulation const& simulation);

// The path's seconds by lane, and in it by the kind of op or what is moved; longest first.
struct LaneShare {
  Lane lane = Lane::compute;
  double seconds = 0;
  struct Kind {
    std::string name;
    double seconds = 0;
  };
  std::vector<Kind> kinds;
};
std::vector<LaneShare> shares(Program const& program, std::vector<PathPart> const& path);

}  // namespace spillway
