// Says what the directory of a run is, finds such directories, and reads the files in them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "monitor/json_fields.hpp"

namespace spillway {

// Returns whether a directory is a run's, and no checkpoint: it has some file that only runs write.
bool is_run_directory(std::filesystem::path const& path);

// Throws Error(bad_input) unless the directory is a run's. The text says what it is instead.
void require_run_directory(std::filesystem::path const& path);

// Returns whether all that a run has written there is its lock.
bool has_only_lock(std::filesystem::path const& run_dir);

// Returns the runs that lie in a directory or, if there are none, in the directories in it, in the
// order of their names, in which numbers count as such.
std::vector<std::filesystem::path> runs_below(std::filesystem::path const& directory);

// Returns the run in whose directory a file lies that a run has written, by its name.
std::optional<std::filesystem::path> run_of_file(std::filesystem::path const& file);

// Returns what a file is that runs write under this name, as a part of a sentence, or "".
std::string words_of_run_file(std::string const& name);

// Returns a text that runs write, or nothing if there is none, or nothing and a line in `troubles`
// if it cannot be read.
std::optional<std::string> text_in(std::filesystem::path const& run_dir, std::string const& name,
                                   std::vector<std::string>& troubles);

// Returns the object in a file that runs write: null if there is none, and null and a line in
// `troubles` if it cannot be read.
RunJson object_in(std::filesystem::path const& run_dir, std::string const& name,
                  std::vector<std::string>& troubles);

}  // namespace spillway
