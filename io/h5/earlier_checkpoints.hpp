// Handles checkpoints that a run finds in its directory and did not write. None is overlooked or
// lost.
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

// Finishes a save that was interrupted before `latest` named its checkpoint. If there are
// checkpoints but no `latest`, makes `latest` name the newest complete checkpoint. If `latest`
// names an older checkpoint than the newest, moves the later ones into a new directory earlier-<k>,
// because the run goes on from there. Returns lines that report all this. Throws Error(damaged) if
// no checkpoint is complete, and the errors of checkpoints that cannot be looked at. Only one rank
// may call it, while nobody else writes in the directory.
std::vector<std::string> mend_latest(std::filesystem::path const& run_directory);

// Moves `latest` and all checkpoints into a new directory earlier-<k>, so that a run that begins
// anew replaces none of them. Returns the new directory, or nothing if there was no checkpoint.
// Throws Error(storage). Only one rank may call it.
std::optional<std::filesystem::path> set_aside_checkpoints(
    std::filesystem::path const& run_directory);

// Returns words in brackets for a message about a damaged checkpoint. They say which checkpoint
// before `step` is the newest complete one, judged by its seal and its files' sizes, and how to go
// on from it, or why it cannot be found out.
std::string text_about_older(std::filesystem::path const& run_directory, std::int64_t step);

// Calls `read`, which reads `checkpoint`. If it throws Error(damaged), and the checkpoint is called
// step-<n>, the text of text_about_older is added to the message.
template <class F>
auto naming_older(std::filesystem::path const& checkpoint, F const& read) {
  try {
    return read();
  } catch (Error const& error) {
    auto const step = step_of(checkpoint);
    if (error.status() != Status::damaged || !step) throw;
    throw Error(error.status(),
                error.what() + text_about_older(directory_of(without_slash(checkpoint)), *step));
  }
}

}  // namespace spillway
