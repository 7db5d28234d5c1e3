// A Place says where a value was given, for the one line that a person reads if it is wrong.
#pragma once

#include <string>

namespace spillway {

struct Place {
  std::string where;  // "input/gpt.yaml:14", "command line", or empty if nobody set it
  std::string key;    // "model.heads", or empty

  // Returns "input/gpt.yaml:14: model.heads", or only the part that is there.
  std::string text() const;
};

// Throws Error(bad_input, "input/gpt.yaml:14: model.heads: <problem>").
[[noreturn]] void refuse(Place const& place, std::string const& problem);

}  // namespace spillway
