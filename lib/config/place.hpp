// Where a value was given, for the one line a person reads when it is wrong.
#pragma once

#include <string>

namespace spillway {

struct Place {
  std::string where;  // "input/gpt.yaml:14", "command line", or empty when nobody set it
  std::string key;    // "model.heads", or empty

  std::string text() const;  // "input/gpt.yaml:14: model.heads", with only the parts there are
};

// Throws Error(bad_input, "input/gpt.yaml:14: model.heads: <problem>").
[[noreturn]] void refuse(Place const& place, std::string const& problem);

}  // namespace spillway
