// Finds the Machine that a run plans with, from measurements made now or earlier.
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

// Returns the slowest rates of all ranks, since all ranks make one plan: of the ops in a training
// step with `choices`, of memory, of the network between ranks, and of storage if the Config has
// any. Peaks are those of the device's data sheet, if it is known (run/data_sheet.hpp). Takes the
// rates that all ranks find in `cache`, measures the others, stores them there, and logs which were
// measured. Measurements take at most `memory_bytes` of this rank's memory, and at most half of
// what is free on a device with memory of its own; this memory is free again when the function
// returns. All ranks must call it. Throws AgreedError.
Machine measured_machine(Config const& config, std::int64_t vocab, Choices const& choices,
                         RunCores const& cores, std::int64_t memory_bytes, Compute const& compute,
                         Comm& comm, ProfileCache const& cache = ProfileCache());

// Returns the machine in the file that debug.machine names, which must describe the device that
// computes here, or the measured machine if there is no such file. All ranks must call this. Throws
// AgreedError.
Machine planned_for(Config const& config, std::int64_t vocab, Choices const& choices,
                    RunCores const& cores, std::int64_t memory_bytes, Compute const& compute,
                    Comm& comm, ProfileCache const& cache = ProfileCache());

}  // namespace spillway
