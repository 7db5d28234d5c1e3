// Keys of config.json on which nothing depends that this program computes; only for this folder's
// sources.
#pragma once

#include <string_view>

#include "huggingface/architecture.hpp"

namespace spillway {

bool is_left_out(std::string_view key, Architecture architecture);

}  // namespace spillway
