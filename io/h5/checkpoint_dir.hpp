// The order of steps that makes a checkpoint atomic: at every moment, however the run dies,
// `latest` names a complete one (or there is none yet).
//
//   rank 0: begin_checkpoint -> <run>/step-<n>.partial     barrier (the caller's)
//   all:    ShardWriter in that directory                  barrier
//   rank 0: write_manifest, commit_checkpoint
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "io/h5/checkpoint_reader.hpp"

namespace spillway {

// Removes what interrupted checkpoints left, as far as that is possible, and makes an empty
// directory for this one. Throws Error(storage).
std::filesystem::path begin_checkpoint(std::filesystem::path const& run_directory,
                                       std::int64_t step);

// Removes what failed or interrupted ones left, as far as that is possible; call it where nobody
// else writes one.
void abandon_checkpoint(std::filesystem::path const& run_directory) noexcept;

// Synchronises the directory, renames it to step-<n> (in place of an older one of that name) and
// points `latest` at it. The new `latest` waits beside the old one before that: whoever finds it
// and its checkpoint finishes what was interrupted (mend_latest). Throws Error(storage). Then
// removes all but the newest `keep` (>= 1) checkpoints up to this step; those of later steps, from
// which the run has gone back, stay. What cannot be removed is no failure but a warning: the text,
// in one line.
[[nodiscard]] std::optional<std::string> commit_checkpoint(
    std::filesystem::path const& run_directory, std::int64_t step, std::int64_t keep);

// The directory that `latest` names, its shards' sizes compared with its seal. Empty: there is
// no `latest`. Throws in one line naming the file: Error(damaged) when it is cut short or missing,
// Error(bad_input) or Error(storage) when it cannot be looked at.
// Where it is damaged, the line also names the newest complete checkpoint before it.
std::optional<CheckpointReader> open_latest(std::filesystem::path const& run_directory);
std::optional<std::filesystem::path> find_latest(std::filesystem::path const& run_directory);

// Where somebody names a checkpoint, a run directory stands for its newest: that of find_latest;
// every other path for itself. Throws as find_latest.
std::filesystem::path checkpoint_at(std::filesystem::path const& path);
CheckpointReader open_checkpoint(std::filesystem::path const& path);

// How many finished checkpoints up to this step `run_directory` holds. Throws Error(storage).
std::int64_t count_checkpoints(std::filesystem::path const& run_directory, std::int64_t step);

// Throws Error(status) unless `needed_bytes` are free where `directory` is.
void require_space(std::filesystem::path const& directory, std::int64_t needed_bytes,
                   Status status = Status::storage);

}  // namespace spillway
