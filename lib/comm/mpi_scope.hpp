// Starts and ends MPI and makes the Comm of all ranks. Only the sources of this library know MPI.
#pragma once

#include <memory>
#include <string>

#include "comm/comm.hpp"

namespace spillway {

// main makes one MpiScope for the process. It must outlive every Comm that is made in it. After an
// Error(peer_lost), main must call Comm::abort before the scope ends, because the end waits for all
// ranks.
class MpiScope {
 public:
  MpiScope(int& argc, char**& argv);
  ~MpiScope();
  MpiScope(MpiScope const&) = delete;
  MpiScope& operator=(MpiScope const&) = delete;
};

// Returns the Comm of all ranks of the launch. Every rank must call it. It exchanges a first
// message with every peer, so that MPI makes its connections and buffers now and not during a step.
std::unique_ptr<Comm> make_world_comm(CommSettings const& settings);

std::string mpi_version();  // "Open MPI v4.1.4", for reports

}  // namespace spillway
