// Turns the index of a checkpoint into a JSON value, which becomes a part of the seal, and back.
// Only sources of this folder may include this header.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "io/h5/checkpoint_index.hpp"

namespace spillway {

nlohmann::ordered_json json_of(CheckpointIndex const& index);

// Throws Error(damaged) that begins with `source` if a number or a name is impossible, and
// nlohmann's exceptions if the value has another form.
CheckpointIndex index_of(nlohmann::ordered_json const& json, std::string const& source);

// These turn the checksums of carried files, which are a part of the seal, into a JSON value and
// back. carried_of throws Error(damaged) that begins with `source`, or nlohmann's exceptions if the
// value has another form.
nlohmann::ordered_json json_of(CarriedSums const& sums);
CarriedSums carried_of(nlohmann::ordered_json const& json, std::string const& source);

// Returns the value as JSON text. Bytes that are no UTF-8, which paths in a configuration may have,
// are replaced.
std::string text_of(nlohmann::ordered_json const& json);

}  // namespace spillway
