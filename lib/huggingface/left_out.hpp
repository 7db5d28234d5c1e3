// Knows the keys of config.json that change nothing that this program computes; only for this
// folder's sources.
#pragma once

#include <string_view>

#include "huggingface/architecture.hpp"
#include "huggingface/json_object.hpp"

namespace spillway {

// Returns whether the key, with its value in a file of this architecture, may be passed over.
bool is_left_out(Json const& file, std::string_view key, Architecture architecture);

}  // namespace spillway
