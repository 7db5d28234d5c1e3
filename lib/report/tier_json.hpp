// Writes bytes per tier as JSON, in the same way in every report.
#pragma once

#include <nlohmann/json.hpp>

#include "plan/data/plan.hpp"

namespace spillway {

inline nlohmann::ordered_json tiers_json(TierBytes const& bytes) {
  nlohmann::ordered_json json;
  for (Tier const tier : kTiersInOrder) json[std::string(name(tier))] = bytes[index(tier)];
  return json;
}

}  // namespace spillway
