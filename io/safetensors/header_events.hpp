// The JSON of a header, as values that are not compared with each other yet; only for this folder's
// sources.
#pragma once

#include <string>
#include <string_view>

#include "io/safetensors/header.hpp"

namespace spillway {

// In the order of the text. Throws what parse_header throws, for all that one tensor's text shows:
// what is not where it must be, is missing, is there twice, or has a dtype that is not known.
SafetensorsHeader take_apart(std::string_view json, std::string const& source);

}  // namespace spillway
