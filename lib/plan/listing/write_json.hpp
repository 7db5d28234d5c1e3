// Values of a Program -> JSON. Only for this folder's sources.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "plan/listing/program_fields.hpp"
#include "plan/listing/spelling.hpp"

namespace spillway {

using Json = nlohmann::ordered_json;

Json json_of(TierBytes const& bytes);
Json json_of(Attributes const& attributes);

template <class T>
Json json_of(T const& value) {
  if constexpr (std::is_enum_v<T>) {
    return std::string(spelled(value));
  } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
    return value;
  } else if constexpr (List<T>) {
    auto json = Json::array();
    for (auto const& one : value) json.push_back(json_of(one));
    return json;
  } else {
    auto json = Json::object();
    visit_fields(value, [&](std::string_view key, auto const& part) {
      json[std::string(key)] = json_of(part);
    });
    return json;
  }
}

inline Json json_of(TierBytes const& bytes) {
  auto json = Json::object();
  for (Tier const tier : kTiersInOrder) json[std::string(name(tier))] = bytes[index(tier)];
  return json;
}

inline Json json_of(Attributes const& attributes) {
  auto json = Json::object();
  auto const key = std::string(kAttributeNames[attributes.index()]);
  json[key] = std::visit(
      []<class T>(T const& any) {
        if constexpr (std::same_as<T, std::monostate>)
          return Json::object();
        else
          return json_of(any);
      },
      attributes);
  return json;
}

}  // namespace spillway
