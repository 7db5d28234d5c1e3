// How fast ranks send to each other.
#pragma once

#include "comm/comm.hpp"
#include "plan/data/machine.hpp"

namespace spillway {

// Sets what this rank sends to another of its node, and to one of another node, while all ranks
// exchange in such pairs at once; 0 where there is no such pair. Takes 32 MiB and half a second;
// some seconds where links are slower than 10 MB/s. Collective. Throws AgreedError without memory.
void probe_network(Machine& machine, Comm& comm);

// The nodes of a run and how many ranks each has, as a text that tells runs apart. Collective.
std::string network_name(Comm& comm);

}  // namespace spillway
