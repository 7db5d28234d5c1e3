// Pure functions that put into words what `doctor` found. They return whole lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/ring/probe.hpp"
#include "kernels/host/team/team.hpp"

namespace spillway {

// Returns a line "  -> what to change" for each advice.
std::string advice_text(std::vector<std::string> const& advice);
// Says how many of `cores` may be used together, and what to change if it is fewer.
std::string threads_text(TeamLimit const& limit, std::int64_t cores);
std::string ring_text(RingProbe const& ring);
std::string directory_text(std::string const& directory, DirectoryProbe const& disk);
// Says how the spill file of a run would move bytes: with which backend, whether past the page
// cache (`direct`), and what to change.
std::string spilling_text(std::string_view backend, bool direct,
                          std::vector<std::string> const& advice);

}  // namespace spillway
