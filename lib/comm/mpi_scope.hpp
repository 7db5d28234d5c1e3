// Starts and ends MPI and makes the Comm of all ranks. Only sources of lib/comm know MPI.
#pragma once

#include <memory>
#include <string>

#include "comm/comm.hpp"

namespace spillway {

// `main` makes one MpiScope for the process. It must outlive every Comm of that process. After an
// Error(peer_lost), main must call Comm::abort before the MpiScope is destroyed, because
// MPI_Finalize waits for all ranks.
class MpiScope {
 public:
  MpiScope(int& argc, char**& argv);
  ~MpiScope();
  MpiScope(MpiScope const&) = delete;
  MpiScope& operator=(MpiScope const&) = delete;
};

// Returns the Comm of all ranks of the launch. Every rank must call make_world_comm. It exchanges a
// first message with every peer, so that MPI makes its connections and buffers now and not during a
// step.
std::unique_ptr<Comm> make_world_comm(CommSettings const& settings);

std::string mpi_version();  // such as "Open MPI v4.1.4"

}  // namespace spillway
