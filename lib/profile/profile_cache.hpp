// What was measured before: files in a directory of the user's, each for one set of circumstances
// (`About`: program, hardware, threads, ...). Jobs and ranks may use it at the same time. Nothing
// here fails a run: what cannot be read is measured anew, what cannot be written is not kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "plan/data/machine_file.hpp"

namespace spillway {

// $XDG_CACHE_HOME/spillway or ~/.cache/spillway; empty where neither is set.
std::filesystem::path user_profile_cache();

class ProfileCache {
 public:
  enum class Use : std::uint8_t { all, refresh };  // refresh: finds nothing, keeps what is measured
  explicit ProfileCache(std::filesystem::path directory = user_profile_cache(), Use use = Use::all)
      : m_directory(std::move(directory)), m_use(use) {}

  struct Found {
    Machine machine;      // 0 and empty where nothing is known
    std::string trouble;  // a line that names the file, where there is one that cannot be used
  };
  Found find(About const& key) const;

  // Adds to what is there; new numbers win. Returns why it was not kept, or "".
  std::string store(About const& key, Machine const& measured) const;

  std::filesystem::path file(About const& key) const;

 private:
  Found read(About const& key) const;

  std::filesystem::path m_directory;
  Use m_use;
};

// With the date of now, for people: it tells no profiles apart.
About dated(About about);

// The text of such a file: a machine file and a checksum, for half a file may look like a whole
// one.
std::string sealed_profile(About const& key, Machine const& machine);

}  // namespace spillway
