// Finds the Machine that a run plans with, from measurements made now or kept from before.
#pragma once

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "job/cores.hpp"
#include "plan/data/machine_file.hpp"
#include "profile/profile_cache.hpp"
#include "run/prepare.hpp"
#include "runtime/compute.hpp"
#include "samples/data.hpp"

namespace spillway {

// Returns the slowest rates of all ranks, since all ranks make one plan: those of ops in a training
// step of `choices`, of memory, and of storage if the Config has any. Takes what all ranks find in
// `cache`; measures the rest, stores it there and logs so. `memory_bytes` is what this rank may
// take meanwhile, and no more than half of what is free of a device's own memory. All memory is
// given back before it returns. Collective. Throws AgreedError.
Machine measured_machine(Config const& config, std::int64_t vocab, Choices const& choices,
                         RunCores const& cores, std::int64_t memory_bytes, Compute const& compute,
                         Comm& comm, ProfileCache const& cache = ProfileCache());

// The machine of the file that debug.machine names, if it does, which must be of what computes
// here, or else the measured one. Collective. Throws AgreedError.
Machine planned_for(Config const& config, std::int64_t vocab, Choices const& choices,
                    RunCores const& cores, std::int64_t memory_bytes, Compute const& compute,
                    Comm& comm);

}  // namespace spillway
