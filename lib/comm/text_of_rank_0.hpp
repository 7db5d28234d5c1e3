// Gives the text of rank 0 to all ranks.
#pragma once

#include <string>

#include "comm/comm.hpp"

namespace spillway {

// Returns what rank 0 passes as `mine`. All ranks must call this. Throws Error(peer_lost) if a peer
// is gone.
std::string text_of_rank_0(Comm& comm, std::string const& mine);

}  // namespace spillway
