// Draws charts with the gnuplot that is installed, if one is.
#pragma once

#include <string>

namespace spillway {

struct Drawing {
  std::string picture;  // what the script drew; empty if the drawing failed
  std::string trouble;  // one line that says what failed; empty if nothing failed
};

// Runs a script that sets a terminal but no file for output. Blocks until gnuplot ends, whose own
// messages go to stderr. Does not throw.
Drawing draw(std::string const& script);

}  // namespace spillway
