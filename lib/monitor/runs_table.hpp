// Shows several runs in a table, such as those of a sweep.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "monitor/run_record.hpp"

namespace spillway {

// Reads the runs that lie in a directory, in the order of their names, in which numbers count as
// such. Returns none if there are none.
std::vector<RunRecord> read_runs(std::filesystem::path const& directory);

// Returns a line for each run: its state, how far it is, its last loss and its least one of an
// evaluation, its speed, the time that is left, and the keys in which the runs differ.
std::string runs_table(std::vector<RunRecord> const& runs);

}  // namespace spillway
