// Where a path leads that is written: to a file, to nothing yet, or through to somebody who reads.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>

namespace spillway {

struct Destination {
  std::filesystem::path path;     // no link any more
  std::optional<int> descriptor;  // of this process, which has it open, as /dev/stdout
  struct stat info {};            // zeros where nothing is there
  bool exists = false;

  // Whether bytes go on to somewhere else instead of becoming a file's: a device, a pipe, or what
  // this process was given open.
  bool is_through() const;
};

// Throws Error(bad_input) where the path cannot be followed.
Destination destination_of(std::filesystem::path const& path);

bool is_same_file(struct stat const& one, struct stat const& other);

}  // namespace spillway
