// The one line with which a config that is loaded is refused.
#pragma once

#include <string>
#include <vector>

#include "config/load.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::test {

using Overrides = std::vector<std::string>;

// The one line that `act` ends with.
template <class Act>
std::string error_line(Act act) {
  return refused_with(act);
}

inline std::string file_error(std::string const& text) {
  return error_line([&] { parse_config(text, "in.yaml"); });
}

inline std::string override_error(std::string const& text) {
  return error_line([&] { parse_config("model: {}", "in.yaml", Overrides{text}); });
}

}  // namespace spillway::test
