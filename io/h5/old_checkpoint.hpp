// Checkpoints of version 1, which had no seal: only HDF5 can say what is in them.
#pragma once

#include <filesystem>

#include "io/h5/checkpoint_index.hpp"

namespace spillway {

// The index, found in a child process and then checked. Throws Error: bad_input when there is no
// checkpoint, damaged when it cannot be read or is of a version whose seal is missing.
CheckpointIndex read_old_index(std::filesystem::path const& directory);

}  // namespace spillway
