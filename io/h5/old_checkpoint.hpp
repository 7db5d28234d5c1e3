// Reads checkpoints of version 1, which had no seal, so that only HDF5 can say what is in them.
#pragma once

#include <filesystem>

#include "io/h5/checkpoint_index.hpp"

namespace spillway {

// Returns the index, which a child process reads and which is then checked. Throws Error: bad_input
// if there is no checkpoint, damaged if it cannot be read or is of a version whose seal is missing.
CheckpointIndex read_old_index(std::filesystem::path const& directory);

}  // namespace spillway
