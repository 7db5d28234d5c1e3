// Gives all ranks of a run the same view of a file of the profile cache.
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
  // Collective. Keys differ between ranks on unlike nodes, and cache directories may differ too.
  SharedProfile(ProfileCache const& cache, About key, Comm& comm);

  // Collective. Returns the slowest of what every rank finds: all of `rates` or none of them, and
  // some of the ops in `wanted`. Warns of files that cannot be used.
  Machine find(Rates const& rates, OpSeconds const& wanted, Comm& comm) const;

  // Stores the slowest of all ranks' measurements under this rank's key.
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
  std::vector<Id> m_ids;  // by rank
  bool m_speaks = false;  // first rank of its node with that file: it warns and writes
};

}  // namespace spillway
