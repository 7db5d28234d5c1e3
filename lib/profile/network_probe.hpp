// Measures how fast ranks send to each other.
#pragma once

#include "comm/comm.hpp"
#include "plan/data/machine.hpp"

namespace spillway {

// Sets the rates at which ranks send to a rank of their own node and to a rank of another node
// while all ranks exchange in such pairs. Each rate is that of the slowest pair, or 0 if there is
// no such pair. Takes 32 MiB and half a second, or some seconds if links are slower than 10 MB/s.
// Collective. Throws AgreedError if a rank has too little memory.
void probe_network(Machine& machine, Comm& comm);

// Returns a text that tells the nodes of this run from those of other runs: the number of ranks and
// nodes, and a checksum of the ranks' host names. Collective.
std::string network_name(Comm& comm);

}  // namespace spillway
