// The names in a run directory: step-<n>, a checkpoint; step-<n>.partial, one being written or
// removed; step-<n>.replaced, one moved aside for another of the same step; latest, and
// latest.partial while a checkpoint is put in its place; earlier-<k>, with checkpoints that are not
// this run's any more, and earlier.partial while they are moved.
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
// n of "step-<n><suffix>"; empty for every other name.
std::optional<std::int64_t> step_in(std::string_view name, std::string_view suffix = "");
// The same of a directory's last name.
std::optional<std::int64_t> step_of(std::filesystem::path const& directory);
// Of all such names, unsorted. Throws std::filesystem_error.
std::vector<std::int64_t> steps_in(std::filesystem::path const& run_directory,
                                   std::string_view suffix = "");

// Of a small text file. Throws Error when it cannot be read or is no small text file.
std::string first_line(std::filesystem::path const& path);

// The first line of `latest`; empty: there is no such file, or a link that leads nowhere. Throws
// Error: damaged when it is empty, storage or bad_input when it cannot be read.
std::optional<std::string> read_latest(std::filesystem::path const& run_directory);

// Where a finished checkpoint lies: a job that died while it put another in its place may have left
// it moved aside. Throws Error(storage).
std::filesystem::path standing_place(std::filesystem::path const& run_directory, std::int64_t step);

std::string text_of(std::filesystem::filesystem_error const& error);  // in one line

// What std::filesystem throws, as the one exception type.
template <class F>
auto as_storage_error(F action) {
  try {
    return action();
  } catch (std::filesystem::filesystem_error const& error) {
    throw Error(Status::storage, text_of(error));
  }
}

}  // namespace spillway
