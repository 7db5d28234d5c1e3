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

bool fits(std::string const& pattern, std::string const& name) {
  return fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
}

// Returns the parts of a name, or the texts between a pattern's wildcards and dots.
std::vector<std::string> parts_of(std::string_view name) {
  constexpr std::string_view ends = ".*?[]";
  std::vector<std::string> parts;
  while (!name.empty()) {
    auto const part = name.substr(0, name.find_first_of(ends));
    if (!part.empty()) parts.emplace_back(part);
    name.remove_prefix(std::min(name.size(), part.size() + 1));
  }
  return parts;
}

// Returns a pattern that some name fits, made of the text of one that none fits, or "".
std::string wider(std::string const& pattern, std::vector<std::string> const& names) {
  auto const wide = fmt::format("*{}*", pattern);
  return std::ranges::any_of(names, [&](auto const& name) { return fits(wide, name); }) ? wide : "";
}

// Returns the pattern with each part that no name has replaced by the part that resembles it most.
std::string spelt(std::string pattern, std::vector<std::string> const& names) {
  std::set<std::string> known;
  for (auto const& name : names)
    for (auto const& part : parts_of(name)) known.insert(part);
  for (auto const& part : parts_of(pattern)) {
    auto const near = known.contains(part) ? "" : nearest_name(part, {known.begin(), known.end()});
    if (!near.empty()) pattern.replace(pattern.find(part), part.size(), near);
  }
  return pattern;
}

// Returns a few of the names, from the first to the last.
std::string examples(std::vector<std::string> const& names) {
  return fmt::format("{}, {} and {}", names.front(), names[names.size() / 2], names.back());
}

}  // namespace

std::string Freeze::advice(std::string const& pattern) const {
  if (auto const wide = wider(pattern, m_names); !wide.empty())
    return "patterns are compared with whole names: " + asked(wide);
  if (m_model.tied && !wider(pattern, {"lm_head.weight", "cls.predictions.decoder.weight"}).empty())
    return fmt::format("the head is tied to the embedding, whose table is {}", m_names.front());
  auto const near = spelt(pattern, m_names);
  for (auto const& other : {near, wider(near, m_names)})
    if (std::ranges::any_of(m_names, [&](auto const& name) { return fits(other, name); }))
      return asked(other);
  return "they have names such as " + examples(m_names);
}

bool Freeze::freezes(std::string const& name) {
  m_names.push_back(name);
  bool frozen = m_model.lora.rank > 0 && !adapted_layer(name);
  for (auto const& pattern : m_model.freeze) {
    if (!fits(pattern, name)) continue;
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
    throw Error(Status::bad_input, fmt::format("{}: no parameter of this model fits {}; {}", kKey,
                                               pattern, advice(pattern)));
  }
  if (!m_trains)
    throw Error(Status::bad_input,
                fmt::format("{}: all parameters are frozen, and nothing is left to train", kKey));
}

}  // namespace spillway
