// Makes the lines of a frame of `top`, which shows a run while it goes on.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "monitor/run_record.hpp"

namespace spillway {

struct Window {
  std::size_t columns = 80, rows = 24;
  bool unicode = true;  // whether the terminal shows blocks
};

// Returns at most `window.rows` lines of at most `window.columns` characters, none of which
// controls a terminal. `silent_s` is for how long nothing new has been written. What does not fit
// is left out, the last lines first.
std::vector<std::string> top_frame(RunRecord const& run, double silent_s, Window const& window);

}  // namespace spillway
