// Repeats at the end of a run what was warned of, which may be far up in the log.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace spillway {

// Returns the warnings of all ranks, each once. A rank's text has one on each line.
std::vector<std::string> merged_warnings(std::span<std::string const> by_rank);

// Returns a heading and a short line for each warning but for the last of many, or "" if there are
// none.
std::string warning_lines(std::span<std::string const> warnings);

}  // namespace spillway
