// The directories of a spill file: one, or one on each of several drives.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace spillway {

struct Directories {
  template <std::convertible_to<std::filesystem::path> Path>
  Directories(Path const& one) : all{std::filesystem::path(one).string()} {}
  Directories(std::vector<std::string> several) : all(std::move(several)) {}

  std::string words() const;  // such as "/nvme0, /nvme1"

  std::vector<std::string> all;  // not empty
};

// Throws Error(bad_input) if no spill file can be made in one of the directories, or if two of them
// are the same.
void require_spill_place(Directories const& directories);

// Returns how many bytes can be dealt out to files in these directories: as many times what the
// fullest of them has free as there are directories. Directories on one file system share what is
// free there. Throws Error(bad_input) if one of them cannot be examined.
std::int64_t spill_room_bytes(Directories const& directories);

}  // namespace spillway
