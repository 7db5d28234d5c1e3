// Measures how fast ranks send to each other.
#pragma once

#include "comm/comm.hpp"
#include "plan/data/machine.hpp"

namespace spillway {

// Sets the rate at which this rank sends to one of its own node and to one of another node while
// all ranks exchange in such pairs, or 0 if there is no such pair. Takes 32 MiB and half a second,
// or some seconds if links are slower than 10 MB/s. Collective. Throws AgreedError without memory.
void probe_network(Machine& machine, Comm& comm);

// Returns text that names the nodes of a run and how many ranks each has. Collective.
std::string network_name(Comm& comm);

}  // namespace spillway
