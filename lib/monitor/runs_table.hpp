// Shows several runs in a table, such as those of a sweep.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "monitor/run_record.hpp"

namespace spillway {

// Reads the runs that runs_below() finds.
std::vector<RunRecord> read_runs(std::filesystem::path const& directory);

// Returns a line for each run: its name below the directory, its state, how far it is, its last
// loss and its least one of an evaluation, its speed, the time that is left, and the keys in which
// the runs differ.
std::string runs_table(std::vector<RunRecord> const& runs, std::filesystem::path const& directory);

}  // namespace spillway
