// environment.json: what a run runs on.
#pragma once

#include <string>

#include "comm/comm.hpp"
#include "graph/arithmetic.hpp"

namespace spillway {

// Version, build, MPI, hosts of all ranks, threads, devices. Collective.
std::string environment_json(Comm& comm, Arithmetic const& arithmetic);

// What the job script that started this run calls its attempt ($SPILLWAY_JOB), so that it knows a
// summary.json of its own from an older one; empty: it has no name.
std::string job_name();

}  // namespace spillway
