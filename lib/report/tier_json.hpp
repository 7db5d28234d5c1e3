// Makes JSON of bytes per tier, for all reports.
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
