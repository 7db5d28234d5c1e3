// Reads and writes rotary positions. transformers 5 has all of them in rope_parameters,
// transformers 4 in rope_theta and rope_scaling, which 5 reads too.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "huggingface/key_group.hpp"
#include "huggingface/offered.hpp"

namespace spillway {
namespace {

struct RopeKey {
  std::string_view theirs, ours;
};
struct RopeKind {
  std::string theirs;
  RopeScaling ours;
  std::vector<RopeKey> keys;
};

constexpr std::string_view kPositionsKey = "original_max_position_embeddings";

std::vector<RopeKind> const& rope_kinds() {
  static std::vector<RopeKind> const kinds = {
      {"default", RopeScaling::none, {}},
      {"linear", RopeScaling::linear, {{"factor", "model.rope_factor"}}},
      {"llama3",
       RopeScaling::llama3,
       {{"factor", "model.rope_factor"},
        {"low_freq_factor", "model.rope_low_freq_factor"},
        {"high_freq_factor", "model.rope_high_freq_factor"},
        {kPositionsKey, "model.rope_original_positions"}}}};
  return kinds;
}

// Returns max_position_embeddings for a file that has none.
Json default_positions(Architecture architecture) {
  switch (architecture) {
    case Architecture::qwen2:
    case Architecture::qwen3:
      return 32768;
    case Architecture::mistral:
    case Architecture::ministral:
      return 131072;
    default:
      return 2048;
  }
}

// A Scaling is the map that says how positions are scaled, and the map's key in the file.
struct Scaling {
  Json map = Json::object();
  std::string name = "rope_parameters";

  std::string key(std::string_view inner) const { return fmt::format("{}.{}", name, inner); }
};

Scaling scaling_of(Json const& file, ModelKeys const& keys) {
  Scaling scaling;
  for (std::string const name : {"rope_scaling", "rope_parameters"}) {
    auto const value = value_of(file, name);
    if (value.is_null()) continue;
    if (!value.is_object()) keys.fail(name, fmt::format("expected a map, got {}", shown(value)));
    if (!scaling.map.empty() && scaling.map != value)
      keys.fail(name, "says something else than rope_scaling; leave one of them out");
    scaling = {value, name};
  }
  return scaling;
}

RopeKind const& kind_of(Scaling const& scaling, ModelKeys const& keys) {
  auto const older = value_of(scaling.map, "type");
  auto const kind = scaling.map.value("rope_type", older.is_null() ? Json("default") : older);
  if (!older.is_null() && kind != older)
    keys.fail(scaling.key("type"), "says something else than rope_type; leave one of them out");
  auto const& kinds = rope_kinds();
  auto const found =
      std::ranges::find_if(kinds, [&](auto const& one) { return kind == one.theirs; });
  if (found == kinds.end())
    keys.fail(scaling.key("rope_type"),
              fmt::format("{} {}", shown(kind), not_offered(kinds, &RopeKind::theirs)));
  return *found;
}

void read_base(Json const& file, Scaling const& scaling, ModelKeys& keys) {
  constexpr double fallback = 10000;
  constexpr std::string_view base = "rope_theta";
  auto const inner = scaling.map.find(base), outer = file.find(base);
  if (inner == scaling.map.end())
    return keys.set("model.rope_theta", base, outer == file.end() ? Json(fallback) : *outer);
  keys.set("model.rope_theta", scaling.key(base), *inner);
  if (outer != file.end() && *outer != *inner)
    keys.fail(base, fmt::format("says something else than {}", scaling.key(base)));
}

// Refuses a partial_rotary_factor other than 1: for these models transformers fails on it or
// ignores it.
void require_whole_heads(Json const& map, std::string const& name, ModelKeys const& keys) {
  auto const part = value_of(map, "partial_rotary_factor");
  if (!part.is_null() && part != 1)
    keys.fail(name, fmt::format("{} is not offered; only 1 is", shown(part)));
}

void require_known(Scaling const& scaling, RopeKind const& kind, ModelKeys const& keys) {
  constexpr std::string_view always[] = {"rope_type", "type", "rope_theta",
                                         "partial_rotary_factor"};
  for (auto const& [name, value] : scaling.map.items()) {
    bool const known = std::ranges::count(always, name) > 0 ||
                       std::ranges::count(kind.keys, name, &RopeKey::theirs) > 0;
    if (!known && !value.is_null() && value != false)
      keys.fail(scaling.key(shown_key(name)),
                fmt::format("is no key of rope_type {}", kind.theirs));
  }
}

void read_rope(Architecture architecture, Json const& file, ModelKeys& keys) {
  auto const scaling = scaling_of(file, keys);
  auto const& kind = kind_of(scaling, keys);
  read_base(file, scaling, keys);
  require_whole_heads(file, "partial_rotary_factor", keys);
  require_whole_heads(scaling.map, scaling.key("partial_rotary_factor"), keys);
  require_known(scaling, kind, keys);
  keys.set_word("model.rope_scaling", scaling.key("rope_type"), word(kind.ours));
  for (auto const& [theirs, ours] : kind.keys) {
    std::string const positions = "max_position_embeddings";
    if (scaling.map.contains(theirs)) {
      keys.set(ours, scaling.key(theirs), scaling.map.find(theirs).value());
    } else if (theirs == kPositionsKey) {
      keys.set(ours, positions, file.value(positions, default_positions(architecture)));
    } else {
      keys.fail(scaling.key(theirs), fmt::format("is missing; rope_type {} needs it", kind.theirs));
    }
  }
}

Json write_rope(ModelKeys const& keys) {
  auto const& kinds = rope_kinds();
  auto const kind = std::ranges::find(kinds, keys.model().rope_scaling, &RopeKind::ours);
  Json scaling;
  if (!kind->keys.empty()) scaling["rope_type"] = kind->theirs;
  for (auto const& [theirs, ours] : kind->keys) scaling[std::string(theirs)] = keys.get(ours);
  return {{"rope_theta", keys.get("model.rope_theta")}, {"rope_scaling", scaling}};
}

}  // namespace

KeyGroup rope_keys(Architecture architecture) {
  return {
      {"rope_parameters", "rope_scaling", "rope_theta", "partial_rotary_factor"},
      [architecture](Json const& file, ModelKeys& keys) { read_rope(architecture, file, keys); },
      write_rope};
}

}  // namespace spillway
