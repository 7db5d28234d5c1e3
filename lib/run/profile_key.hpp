// Describes the circumstances under which a machine was measured, as far as they change the
// numbers.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.hpp"
#include "plan/data/machine_file.hpp"
#include "run/prepare.hpp"
#include "runtime/compute.hpp"

namespace spillway {

// Returns the circumstances of ops and rates: the program, the hardware, the threads, the cores,
// how many ranks of this node measure at the same time, and the device if it has memory of its own.
About profile_key(Config const& config, Choices const& choices, std::int64_t cores,
                  std::int64_t local_ranks, Compute const& compute);

// Returns the same for links between ranks, with a text that names the nodes (network_name).
About network_key(About const& profile_key, std::string const& network);

// Returns the same for the drive that holds memory.nvme.path, with what moves its bytes.
About drive_key(About const& profile_key, Config const& config);

}  // namespace spillway
