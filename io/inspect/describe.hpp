// What a binary file of ours holds, as text for `spillway inspect`.
#pragma once

#include <filesystem>
#include <string>

namespace spillway {

// A token file, a checkpoint directory or its checkpoint.h5. Several lines, each ended. Throws what
// TokenFile and CheckpointReader throw: bad_input for what is neither, damaged for what is cut
// short.
std::string describe(std::filesystem::path const& path);

}  // namespace spillway
