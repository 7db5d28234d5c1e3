// Gathers a text of every rank, in the order of ranks.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "comm/comm.hpp"

namespace spillway {

// Returns what each rank passes as `mine`, by rank. All ranks must call it. Throws Error(peer_lost)
// if a peer is gone.
std::vector<std::string> gathered_texts(Comm& comm, std::string_view mine);

}  // namespace spillway
