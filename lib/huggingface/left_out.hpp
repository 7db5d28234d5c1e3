// Keys of config.json on which nothing depends that this program computes; only for this folder's
// sources.
#pragma once

#include <string_view>

#include "huggingface/architecture.hpp"
#include "huggingface/json_object.hpp"

namespace spillway {

// Whether the key says nothing with this value in a file of this architecture.
bool is_left_out(Json const& file, std::string_view key, Architecture architecture);

}  // namespace spillway
