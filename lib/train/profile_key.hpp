// Under what circumstances numbers of a machine were measured: those that decide them.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.hpp"
#include "plan/data/machine_file.hpp"
#include "train/prepare.hpp"

namespace spillway {

// Of ops and rates: this program on this hardware, with so many threads on so many cores, while so
// many ranks of this node measure.
About profile_key(Config const& config, Choices const& choices, std::int64_t cores,
                  std::int64_t local_ranks);

// Of the links between ranks: the same, and whose links they are (network_probe.hpp).
About network_key(About const& profile_key, std::string const& network);

// Of the drive below memory.nvme.path: the same, and what moves its bytes.
About drive_key(About const& profile_key, Config const& config);

}  // namespace spillway
