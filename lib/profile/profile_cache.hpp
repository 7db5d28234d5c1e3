// Keeps earlier measurements as files in a directory of the user's, one for each `About` (program,
// hardware, threads, ...). Several jobs and ranks may use it at the same time. No failure here ends
// a run: a file that cannot be read is measured anew, and one that cannot be written is not kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "plan/data/machine_file.hpp"

namespace spillway {

// Returns $XDG_CACHE_HOME/spillway or ~/.cache/spillway, or "" if neither variable is set.
std::filesystem::path user_profile_cache();

class ProfileCache {
 public:
  enum class Use : std::uint8_t { all, refresh };  // refresh: find returns nothing, store works
  explicit ProfileCache(std::filesystem::path directory = user_profile_cache(), Use use = Use::all)
      : m_directory(std::move(directory)), m_use(use) {}

  struct Found {
    Machine machine;      // its numbers are 0 or empty if they are not known
    std::string trouble;  // names a file that cannot be used; "" if there is none
  };
  Found find(About const& key) const;

  // Adds to the stored numbers and replaces old ones. Returns why that failed, or "".
  std::string store(About const& key, Machine const& measured) const;

  std::filesystem::path file(About const& key) const;

 private:
  Found read(About const& key) const;

  std::filesystem::path m_directory;
  Use m_use;
};

// Adds the current date for people to read; it is no part of what tells profiles apart.
About dated(About about);

// Returns the text of such a file: a machine file and a checksum, which reveals a truncated file.
std::string sealed_profile(About const& key, Machine const& machine);

}  // namespace spillway
