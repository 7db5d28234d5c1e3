#include "config/difference.hpp"

#include <fmt/core.h>

#include "config/keys.hpp"

namespace spillway {

std::vector<std::string> differences(Config before, Config now, Scope widest) {
  now.model.import_from = before.model.import_from;  // other keys say what it says
  auto const keys_before = keys_of(before), keys_now = keys_of(now);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < keys_now.size(); ++i) {
    if (!keys_now[i].is_of(now) || keys_now[i].scope > widest) continue;
    auto const was = write_key(keys_before[i]), is = write_key(keys_now[i]);
    if (was != is) lines.push_back(fmt::format("{} {} -> {}", keys_now[i].name, was, is));
  }
  return lines;
}

}  // namespace spillway
