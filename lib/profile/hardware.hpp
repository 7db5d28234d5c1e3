// What this node is made of, in words: profiles are kept for equal ones.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "plan/data/machine_file.hpp"

namespace spillway {

// Processor, cores, main memory, kernel. Equal on equal nodes.
About hardware();

// The drive below a directory: "ext4 /dev/nvme0n1p1 259:1"; "" where there is none.
std::string drive_of(std::filesystem::path const& directory);

// The processor's name in the text of /proc/cpuinfo; "" where it has none.
std::string cpu_name(std::string_view cpuinfo);
// File system and source of a device ("259:1") in the text of /proc/self/mountinfo; or "".
std::string mount_of(std::string_view mountinfo, std::string_view device);

}  // namespace spillway
