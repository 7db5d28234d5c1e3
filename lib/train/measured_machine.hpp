// The Machine that a run plans with: what its ranks find where they are, or found before.
#pragma once

#include "comm/comm.hpp"
#include "config/config.hpp"
#include "kernels/exec.hpp"
#include "plan/data/machine_file.hpp"
#include "profile/profile_cache.hpp"
#include "train/data.hpp"
#include "train/prepare.hpp"

namespace spillway {

// Collective. Rates, storage where there is some to spill to, and every op of a training step of
// `choices`: what all ranks find in `cache`, and the rest measured and kept there; which is said.
// Gives the slowest of all ranks, since they make one plan. `cores`: this rank's share;
// `memory_bytes`: what it may take while it measures. Throws AgreedError.
Machine measured_machine(Config const& config, std::int64_t vocab, Choices const& choices,
                         std::int64_t cores, std::int64_t memory_bytes, Exec const& exec,
                         Comm& comm, ProfileCache const& cache = ProfileCache());

}  // namespace spillway
