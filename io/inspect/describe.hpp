// What a binary file holds, as text for `spillway inspect`.
#pragma once

#include <filesystem>
#include <string>

namespace spillway {

// A token file, a checkpoint directory, its checkpoint.h5 or a run's directory, weights in the
// safetensors format (a file or a directory). Several lines, each ended. Throws what TokenFile,
// CheckpointReader and SafetensorsReader throw: bad_input for what is none of them, damaged for
// what is cut short.
std::string describe(std::filesystem::path const& path);

}  // namespace spillway
