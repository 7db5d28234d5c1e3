// Finds out which drives lie behind the directories of a spill file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/spill/directories.hpp"

namespace spillway {

// Describes the drives by drive_of, in the order of their directories. The result is equal where
// the same drives are used in the same way.
std::string drives_of(Directories const& directories);

// Returns the whole drive of which a block device of /sys/dev/block is a partition or a logical
// volume, as a path below /sys, or "" if there is no such device.
std::filesystem::path drive_behind(std::filesystem::path const& block_device);

// Returns how many drives there are behind the directories. File systems whose drives the system
// does not tell count as one each.
std::int64_t count_drives(Directories const& directories);

// shared_drives_advice returns lines about directories that are on the drive of another one,
// drives_advice also about those that are on no drive of this node.
std::vector<std::string> shared_drives_advice(Directories const& directories);
std::vector<std::string> drives_advice(Directories const& directories);

}  // namespace spillway
