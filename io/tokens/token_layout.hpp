// Tells what kind of token file a file is and where its tokens lie.
#pragma once

#include <filesystem>

#include "io/tokens/token_file.hpp"

namespace spillway {

// Throws as TokenFile's constructor does.
TokenLayout read_token_layout(std::filesystem::path const& path);

}  // namespace spillway
