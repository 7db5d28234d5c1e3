#include "config/same_model.hpp"

#include <fmt/core.h>

#include "config/keys.hpp"

namespace spillway {

std::string model_difference(Config there, Config here) {
  auto const keys_there = keys_of(there), keys_here = keys_of(here);
  for (std::size_t i = 0; i < keys_there.size(); ++i) {
    auto const& key = keys_there[i];
    if (key.scope != Scope::model || !key.is_of(there.model.family)) continue;
    auto const before = write_key(keys_there[i]), now = write_key(keys_here[i]);
    if (before != now)
      return fmt::format("{} is {} there, {} here", keys_here[i].name, before, now);
  }
  return "";
}

}  // namespace spillway
