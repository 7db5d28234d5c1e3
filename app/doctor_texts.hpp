// What `doctor` says of what it found. Pure functions: whole lines, the last one ended.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/ring/probe.hpp"
#include "kernels/host/team/team.hpp"

namespace spillway {

// "  -> what to change", a line each.
std::string advice_text(std::vector<std::string> const& advice);
// How many of `cores` may work together, and what to change where it is fewer.
std::string threads_text(TeamLimit const& limit, std::int64_t cores);
std::string ring_text(RingProbe const& ring);
std::string directory_text(std::string const& directory, DirectoryProbe const& disk);
// Says how a run's spill file would move bytes: by which backend, past the page cache (`direct`) or
// not, and what to change.
std::string spilling_text(std::string_view backend, bool direct,
                          std::vector<std::string> const& advice);

}  // namespace spillway
