// Finds out where the path of an output leads: to a file, to nothing yet, or to a device or pipe.
#pragma once

#include <sys/stat.h>

#include <filesystem>
#include <optional>

namespace spillway {

struct Destination {
  std::filesystem::path path;     // the path with all links followed
  std::optional<int> descriptor;  // set if the path names an open descriptor, such as /dev/stdout
  struct stat info {};            // is all zeros if nothing is there
  bool exists = false;

  // Returns whether what is written goes to a device, a pipe, or a descriptor that this process was
  // given open, instead of replacing a file.
  bool is_written_through() const;
};

// Finds where `path` leads, with all links followed. Throws Error(bad_input) if the system does not
// say where it leads.
Destination destination_of(std::filesystem::path const& path);

bool is_same_file(struct stat const& one, struct stat const& other);

}  // namespace spillway
