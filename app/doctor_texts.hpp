// These pure functions put into words what `doctor` found. Each returns whole lines.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/ring/probe.hpp"
#include "kernels/host/team/team.hpp"

namespace spillway {

// Returns a line that says what was found under a name, in as many lines as it takes.
std::string found_text(std::string_view name, std::string_view found);
// Returns "  -> what to change" for each element of `advice`.
std::string advice_text(std::vector<std::string> const& advice);
// Says how many threads may work together on `cores` cores, and what to change if they are fewer.
std::string threads_text(TeamLimit const& limit, std::int64_t cores);
std::string ring_text(RingProbe const& ring);
std::string directory_text(std::string const& directory, DirectoryProbe const& disk);
// Says how the spill file of a run would move bytes: with which backend, whether past the page
// cache (`direct`), and what to change.
std::string spilling_text(std::string_view backend, bool direct,
                          std::vector<std::string> const& advice);

}  // namespace spillway
