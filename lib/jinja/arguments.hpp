// The arguments of a call, a filter or a test; only for this folder's sources.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <vector>

#include "jinja/value.hpp"

namespace spillway::jinja {

struct Arguments {
  Elements values = {};
  Entries named = {};

  // Returns the argument at `place`, which may be given by its name; null if it is not given.
  Value const* get(std::size_t place, char const* name) const {
    if (place < values.size()) return &values[place];
    return find(named, name);
  }
  // Throws std::domain_error if there are more arguments than these names.
  void require(std::string const& what, std::vector<std::string> const& names) const {
    if (values.size() > names.size()) fail(what + " has too many arguments");
    for (auto const& [name, _] : named) {
      bool known = false;
      for (std::size_t i = values.size(); i < names.size(); ++i) known = known || names[i] == name;
      if (!known) fail(fmt::format("{} has no argument `{}` here", what, name));
    }
  }
};

}  // namespace spillway::jinja
