// The index as a JSON value, for what stores it beside more; only for this folder's sources.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "io/h5/checkpoint_index.hpp"

namespace spillway {

nlohmann::ordered_json json_of(CheckpointIndex const& index);

// Throws what index_from_json does, but nlohmann's exceptions for a value of another form.
CheckpointIndex index_of(nlohmann::ordered_json const& json, std::string const& source);

// The same of what is carried, which the seal has beside the index.
nlohmann::ordered_json json_of(CarriedSums const& sums);
CarriedSums carried_of(nlohmann::ordered_json const& json, std::string const& source);

// As a text. A path in the configuration may have any bytes: those that are no UTF-8 are replaced.
std::string text_of(nlohmann::ordered_json const& json);

}  // namespace spillway
