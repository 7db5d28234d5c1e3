// The JSON of pages keeps the order in which fields were added, for people who look into it.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace spillway {

using PageJson = nlohmann::ordered_json;

// Returns the number under `key`, or `fallback` if `object` is none, or has none there.
inline double number_in(PageJson const& object, std::string_view key, double fallback) {
  if (!object.is_object()) return fallback;
  auto const found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : fallback;
}

}  // namespace spillway
