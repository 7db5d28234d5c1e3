// A ProfileCache keeps earlier measurements as files in a directory of the user's, one for each
// `About` (program, hardware, threads, ...). Several jobs and ranks may use it at the same time. No
// failure here ends a run: if a file cannot be read, its numbers are measured again, and if one
// cannot be written, they are not kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "plan/data/machine_file.hpp"

namespace spillway {

// Returns $XDG_CACHE_HOME/spillway or ~/.cache/spillway, or "" if neither XDG_CACHE_HOME nor HOME
// is an absolute path.
std::filesystem::path user_profile_cache();

class ProfileCache {
 public:
  // With `refresh`, find returns nothing. With `remember`, it also finds what this object stored
  // where the files cannot be used, so that what is planned many times is measured once.
  enum class Use : std::uint8_t { all, refresh, remember };
  explicit ProfileCache(std::filesystem::path directory = user_profile_cache(), Use use = Use::all)
      : m_directory(std::move(directory)), m_use(use) {}

  struct Found {
    Machine machine;      // its numbers are 0 or empty if they are not known
    std::string trouble;  // names a file that cannot be used; "" if there is none
  };
  Found find(About const& key) const;

  // Adds `measured` to the stored numbers, replacing old ones. Returns the reason if that failed,
  // else "".
  std::string store(About const& key, Machine const& measured) const;

  std::filesystem::path file(About const& key) const;

 private:
  Found read(About const& key) const;

  std::filesystem::path m_directory;
  Use m_use;
  mutable std::map<About, Machine> m_stored;  // with `remember`, what this object stored
};

// Adds the current date, which is for people and does not tell profiles apart.
About dated(About about);

// Returns the text of a profile's file: a machine file and a checksum, which reveals a truncated
// file.
std::string sealed_profile(About const& key, Machine const& machine);

}  // namespace spillway
