// Makes environment.json, which says with what build and on what machines a run runs.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "comm/comm.hpp"
#include "graph/arithmetic.hpp"
#include "runtime/compute.hpp"

namespace spillway {

// Returns the names of all ranks' hosts, by rank. All ranks must call it.
std::vector<std::string> host_names(Comm& comm);

// Returns JSON with the program's version and build, MPI, the hosts of all ranks, and threads,
// instruction set and devices of this rank, which are those of `compute`.
std::string environment_json(std::span<std::string const> hosts, Arithmetic const& arithmetic,
                             Compute const& compute);

// Returns $SPILLWAY_JOB, or "" if it is not set. Job scripts set it to a name for their attempt, so
// that they can tell whether summary.json is of this attempt or of an older one.
std::string job_name();

}  // namespace spillway
