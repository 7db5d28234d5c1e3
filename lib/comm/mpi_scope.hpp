// MPI's life and the world's communicator. This library's sources are the only ones that know MPI.
#pragma once

#include <memory>
#include <string>

#include "comm/comm.hpp"

namespace spillway {

// Owned by main, once per process; outlives every Comm made in it. After an Error(peer_lost) main
// must call Comm::abort before the scope ends: finalising waits for all ranks.
class MpiScope {
 public:
  MpiScope(int& argc, char**& argv);
  ~MpiScope();
  MpiScope(MpiScope const&) = delete;
  MpiScope& operator=(MpiScope const&) = delete;
};

// All ranks of the launch. Collective; exchanges a first message with every peer, so that MPI
// makes its connections and buffers now and not in a step.
std::unique_ptr<Comm> make_world_comm(CommSettings const& settings);

std::string mpi_version();  // "Open MPI v4.1.4", for reports

}  // namespace spillway
