// Checkpoints that a run finds and did not write: none is taken for nothing, none is lost.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace spillway {

// Where checkpoints are but no `latest`, as after a kill before the first was written: makes it
// name the newest complete one. Where it names an older one than the newest, from which the run
// goes on, the later ones move into a new directory earlier-<k>. Lines to be said of either. Throws
// Error(damaged) when none is complete, and what keeps one from being looked at. One rank only,
// while nobody else writes there.
std::vector<std::string> mend_latest(std::filesystem::path const& run_directory);

// Moves `latest` and all checkpoints into a new directory earlier-<k>, so that a run that begins
// anew takes nobody's place; gives it, or nothing where there was no checkpoint. Throws
// Error(storage). One rank only.
std::optional<std::filesystem::path> set_aside_checkpoints(
    std::filesystem::path const& run_directory);

}  // namespace spillway
