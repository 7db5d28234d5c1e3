// A run directory has these names: step-<n> is a checkpoint, step-<n>.partial one that is being
// written or removed, step-<n>.replaced one that was moved aside for another of the same step.
// `latest` is a file with the name of the checkpoint from which a run goes on; latest.partial
// exists while a new checkpoint gets its name. earlier-<k> has checkpoints that are no longer this
// run's; earlier.partial exists while checkpoints are moved there.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"

namespace spillway {

inline constexpr char const *kLatest = "latest", *kEarlier = "earlier";
inline constexpr std::string_view kStepPrefix = "step-";
inline constexpr std::string_view kUnfinished = ".partial", kReplaced = ".replaced";

std::filesystem::path step_path(std::filesystem::path const& run_directory, std::int64_t step,
                                std::string_view suffix = "");
// Returns n if `name` is "step-<n><suffix>", and nothing otherwise.
std::optional<std::int64_t> step_in(std::string_view name, std::string_view suffix = "");
// Returns n if the directory itself is called "step-<n>", and nothing otherwise.
std::optional<std::int64_t> step_of(std::filesystem::path const& directory);
// Returns the n of all names "step-<n><suffix>" in a directory, unsorted. Throws
// std::filesystem::filesystem_error if the directory cannot be listed.
std::vector<std::int64_t> steps_in(std::filesystem::path const& run_directory,
                                   std::string_view suffix = "");

// Returns the first line of a small text file. Throws Error if it cannot be read or is too large.
std::string first_line(std::filesystem::path const& path);

// Returns the first line of `latest`, or nothing if there is no such file or it is a link that
// leads nowhere. Throws Error: damaged if it is empty or too large, storage or bad_input if it
// cannot be read.
std::optional<std::string> read_latest(std::filesystem::path const& run_directory);

// Returns where the finished checkpoint of `step` lies. If a job died while it replaced that
// checkpoint, this may be step-<n>.replaced. Throws Error(storage).
std::filesystem::path standing_place(std::filesystem::path const& run_directory, std::int64_t step);

std::string text_of(std::filesystem::filesystem_error const& error);  // the message in one line

// Returns what `action` returns, and turns what std::filesystem throws into Error(storage).
template <class F>
auto as_storage_error(F action) {
  try {
    return action();
  } catch (std::filesystem::filesystem_error const& error) {
    throw Error(Status::storage, text_of(error));
  }
}

}  // namespace spillway
