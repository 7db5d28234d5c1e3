#include "model/freeze.hpp"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>

#include "base/error.hpp"
#include "config/suggest.hpp"
#include "model/adapters.hpp"

namespace spillway {
namespace {

constexpr auto kKey = "model.freeze";

}  // namespace

bool Freeze::freezes(std::string const& name) {
  m_names.push_back(name);
  bool frozen = m_model.lora.rank > 0 && !adapted_layer(name);
  for (auto const& pattern : m_model.freeze) {
    if (fnmatch(pattern.c_str(), name.c_str(), 0) != 0) continue;
    m_used.insert(pattern);
    frozen = true;
  }
  m_trains |= !frozen;
  return frozen;
}

bool Freeze::freezes(std::vector<std::string> const& names) {
  std::vector<bool> frozen;
  for (auto const& name : names) frozen.push_back(freezes(name));
  auto const other = std::ranges::find(frozen, !frozen.front());
  if (other == frozen.end()) return frozen.front();
  auto const& rest = names[static_cast<std::size_t>(other - frozen.begin())];
  throw Error(Status::bad_input,
              fmt::format("{}: it names {} and not {}, and one product reads both; freeze both or "
                          "neither",
                          kKey, frozen.front() ? names.front() : rest,
                          frozen.front() ? rest : names.front()));
}

void Freeze::require_use() const {
  for (auto const& pattern : m_model.freeze) {
    if (m_used.contains(pattern)) continue;
    auto const near = nearest_name(pattern, m_names);
    auto const& example = near.empty() ? m_names.front() : near;
    throw Error(Status::bad_input,
                fmt::format("{}: no parameter of this model fits {}; they have names such as {}",
                            kKey, pattern, example));
  }
  if (!m_trains)
    throw Error(Status::bad_input,
                fmt::format("{}: all parameters are frozen, and nothing is left to train", kKey));
}

}  // namespace spillway
