// Measured numbers are stored under a key that describes all circumstances which change them.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.hpp"
#include "plan/data/machine_file.hpp"
#include "run/prepare.hpp"
#include "runtime/compute.hpp"

namespace spillway {

// Returns the key for times of ops and rates: the program, hardware, threads and cores, how many
// ranks of this node measure at the same time, and the device if it has memory of its own.
About profile_key(Config const& config, Choices const& choices, std::int64_t cores,
                  std::int64_t local_ranks, Compute const& compute);

// Returns the key for the network, where `network` names the nodes (see network_name).
About network_key(About const& profile_key, std::string const& network);

// Returns the key for the drive that holds memory.nvme.path. The key also says whether spilled
// bytes get checksums.
About drive_key(About const& profile_key, Config const& config);

}  // namespace spillway
