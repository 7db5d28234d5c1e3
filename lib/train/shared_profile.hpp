// A file of the profile cache as all ranks of a run see it.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "plan/data/machine.hpp"
#include "profile/op_times.hpp"
#include "profile/profile_cache.hpp"

namespace spillway {

using Rates = std::vector<double Machine::*>;
bool knows(Machine const& machine, Rates const& rates);

// Of every rank the rates and ops that it has measured; `mine` has the same ops on all ranks.
// Collective.
std::vector<Machine> gathered_machines(Machine const& mine, Comm& comm);

class SharedProfile {
 public:
  // Collective. The keys of ranks on unlike nodes differ, as may the directories of the caches.
  SharedProfile(ProfileCache const& cache, About key, Comm& comm);

  // Collective. What every rank finds: all of `rates` or none of them, and ops of `wanted`; the
  // slowest of them. Files that cannot be used are said.
  Machine find(Rates const& rates, OpSeconds const& wanted, Comm& comm) const;

  // Keeps the slowest of what was measured (`all` ranks') under this rank's key.
  void store(std::vector<Machine> const& all) const;

  std::string path() const { return m_cache.file(m_key).string(); }

 private:
  struct Id {
    std::size_t file = 0;
    std::array<char, 64> host{};
    bool operator==(Id const&) const = default;
  };

  ProfileCache const& m_cache;
  About m_key;
  Id m_id;
  std::vector<Id> m_ids;  // of all ranks
  bool m_speaks = false;  // the first rank of its node with that file: it warns and writes
};

}  // namespace spillway
