// An ItemTime says when an item ran, whether a run measured that or a simulation predicts it.
#pragma once

#include "plan/data/program.hpp"

namespace spillway {

// An ItemTime has seconds since the step began. The item's turn on its lane came at `ready_s`; then
// it waited for items of other lanes until `start_s`.
struct ItemTime {
  ItemNumber item = -1;
  double ready_s = 0, start_s = 0, end_s = 0;
};

}  // namespace spillway
