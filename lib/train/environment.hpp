// environment.json: what a run runs on.
#pragma once

#include <string>

#include "comm/comm.hpp"
#include "graph/arithmetic.hpp"

namespace spillway {

// Version, build, MPI, hosts of all ranks, threads, devices. Collective.
std::string environment_json(Comm& comm, Arithmetic const& arithmetic);

}  // namespace spillway
