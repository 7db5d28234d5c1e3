// Measured numbers are stored under a key that describes all circumstances which change them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.hpp"
#include "plan/data/machine_file.hpp"
#include "run/prepare.hpp"
#include "runtime/compute.hpp"

namespace spillway {

// Returns the key for times of ops and rates: the program, hardware, threads and cores, how many
// ranks of this node measure at the same time, and, of a device with memory of its own, its name,
// the versions of its software and the library of its products.
About profile_key(Config const& config, Choices const& choices, std::int64_t cores,
                  std::int64_t local_ranks, Compute const& compute);

// Committed sources and a build identify a program by their hash. Returns "" for such a hash, else
// a text of the times at which the program's files were written, which tell builds apart.
std::string when_written(std::string_view git_hash, std::vector<std::string> const& files);

// Returns the path of the program or library whose code is at this address, or "" if none is.
std::string file_of_code(void const* address);

// Returns the key for the network, where `network` names the nodes (see network_name).
About network_key(About const& profile_key, std::string const& network);

// Returns the key for the drives that hold memory.nvme.path. The key also says whether spilled
// bytes get checksums.
About drive_key(About const& profile_key, Config const& config);

}  // namespace spillway
