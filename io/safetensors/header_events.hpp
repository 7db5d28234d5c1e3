// Reads the JSON of a header into values that are not compared with each other yet. Only sources of
// this folder may include this.
#pragma once

#include <string>
#include <string_view>

#include "io/safetensors/header.hpp"

namespace spillway {

// Returns the tensors in the order of the text. Throws what parse_header throws if something is not
// where it must be, is missing, is given twice, or is a dtype that is not known.
SafetensorsHeader take_apart(std::string_view json, std::string const& source);

}  // namespace spillway
