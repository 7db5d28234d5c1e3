// A SharedProfile gives all ranks of a run the same view of a file of the profile cache.
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

// Returns the rates and ops that each rank has measured. Collective: `mine` must have the same ops
// on all ranks.
std::vector<Machine> gathered_machines(Machine const& mine, Comm& comm);

class SharedProfile {
 public:
  // Collective. Keys differ between ranks on nodes with different hardware, and cache directories
  // may differ too.
  SharedProfile(ProfileCache const& cache, About key, Comm& comm);

  // Collective. Returns the slowest numbers of all ranks' files: either all of `rates` or none of
  // them, and those ops of `wanted` that all ranks know. Warns of files that cannot be used.
  Machine find(Rates const& rates, OpSeconds const& wanted, Comm& comm) const;

  // Stores the slowest measurements of all ranks that have this rank's host and file under this
  // rank's key. `all` has the measurements of every rank.
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
  std::vector<Id> m_ids;  // the host and file of each rank
  bool m_speaks = false;  // true on the first rank with its host and file, which warns and writes
};

}  // namespace spillway
