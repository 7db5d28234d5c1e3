// Describes a node's hardware as text; a profile is used again on a node with the same text.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "plan/data/machine_file.hpp"

namespace spillway {

// Returns processor, cores, main memory and operating system. The result is equal on equal nodes.
About hardware();

// Returns the drive that holds a directory, such as "ext4 /dev/nvme0n1p1 259:1", or "" if there is
// no such directory.
std::string drive_of(std::filesystem::path const& directory);

// Returns the processor's name in the text of /proc/cpuinfo, or "" if there is none.
std::string cpu_name(std::string_view cpuinfo);
// Returns the file system and the source ("ext4 /dev/nvme0n1p1") of a device ("259:1") from the
// text of /proc/self/mountinfo, or "" if the device is not in it.
std::string mount_of(std::string_view mountinfo, std::string_view device);

}  // namespace spillway
