// Reads the JSON of a safetensors header, and does not compare its numbers with each other. Only
// sources of this folder may include this file.
#pragma once

#include <string>
#include <string_view>

#include "io/safetensors/header.hpp"

namespace spillway {

// Returns the header, with its tensors in the order of the text. Throws Error that begins with
// `source`: bad_input for a dtype that is not known, damaged if something is misplaced, is missing
// or is given twice.
SafetensorsHeader take_apart(std::string_view json, std::string const& source);

}  // namespace spillway
