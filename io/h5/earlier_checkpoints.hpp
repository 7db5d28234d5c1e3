// Checkpoints that a run finds and did not write: none is taken for nothing, none is lost.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/file/path_names.hpp"
#include "io/h5/checkpoint_names.hpp"

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

// A damaged checkpoint is no loss of what is before it. Words in brackets: which the newest one
// before `step` is that is complete, by its seal and its files' sizes, and how to go on from it.
std::string complete_before(std::filesystem::path const& run_directory, std::int64_t step);

// Does what reads `checkpoint`. If it throws Error(damaged), and the checkpoint is called step-<n>,
// the text goes on with complete_before.
template <class F>
auto naming_older(std::filesystem::path const& checkpoint, F const& read) {
  try {
    return read();
  } catch (Error const& error) {
    auto const step = step_of(checkpoint);
    if (error.status() != Status::damaged || !step) throw;
    throw Error(error.status(),
                error.what() + complete_before(directory_of(without_slash(checkpoint)), *step));
  }
}

}  // namespace spillway
