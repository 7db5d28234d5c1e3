// Makes environment.json, which says on what a run runs.
#pragma once

#include <string>

#include "comm/comm.hpp"
#include "graph/arithmetic.hpp"

namespace spillway {

// Returns JSON with version, build, MPI, hosts of all ranks, threads and devices. All ranks must
// call it.
std::string environment_json(Comm& comm, Arithmetic const& arithmetic);

// Returns $SPILLWAY_JOB, or "" if it is not set. Job scripts set it to a name for their attempt, so
// that they can tell whether summary.json is of this attempt or of an older one.
std::string job_name();

}  // namespace spillway
