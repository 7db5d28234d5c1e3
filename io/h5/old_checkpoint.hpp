// Reads checkpoints of version 1, which had no seal, so that only HDF5 can say what is in them.
#pragma once

#include <filesystem>

#include "io/h5/checkpoint_index.hpp"

namespace spillway {

// Returns the index, which a child process reads and this process then checks. Throws Error:
// bad_input if there is no checkpoint or its version is not known, damaged if it cannot be read or
// is of a version that has seals.
CheckpointIndex read_old_index(std::filesystem::path const& directory);

}  // namespace spillway
