// These functions make a checkpoint atomic if they are called in this order. However the run dies,
// `latest` names a complete checkpoint at every moment, or there is none yet.
//
//   rank 0: begin_checkpoint -> <run>/step-<n>.partial     then a barrier (the caller's)
//   all:    ShardWriter in that directory                  then a barrier
//   rank 0: write_manifest, commit_checkpoint
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "io/h5/checkpoint_reader.hpp"

namespace spillway {

// Removes what interrupted checkpoints left, as far as possible, and makes an empty directory for
// this one. Throws Error(storage).
std::filesystem::path begin_checkpoint(std::filesystem::path const& run_directory,
                                       std::int64_t step);

// Removes what failed or interrupted checkpoints left, as far as possible. Call it only while
// nobody else writes a checkpoint.
void abandon_checkpoint(std::filesystem::path const& run_directory) noexcept;

// Synchronises the directory, renames it to step-<n> (in place of an older one of that name) and
// points `latest` at it. The new `latest` is prepared beside the old one before that, so that
// mend_latest can finish a commit that was interrupted. Throws Error(storage). Then removes all but
// the newest `keep` (>= 1) checkpoints up to this step; those of later steps, from which the run
// has gone back, stay. If something cannot be removed, returns a warning in one line.
[[nodiscard]] std::optional<std::string> commit_checkpoint(
    std::filesystem::path const& run_directory, std::int64_t step, std::int64_t keep);

// Opens the checkpoint that `latest` names and compares its shards' sizes with its seal. Returns
// nothing if there is no `latest`. Throws Error in one line that names the file: damaged if it is
// cut short or missing, bad_input or storage if it cannot be looked at. If its files cannot be
// used, the line also names the newest complete checkpoint before it. `find_latest` returns its
// directory.
std::optional<CheckpointReader> open_latest(std::filesystem::path const& run_directory);
std::optional<std::filesystem::path> find_latest(std::filesystem::path const& run_directory);

// checkpoint_at returns the directory of the checkpoint that a user means by `path`: if that is a
// run directory, the one that its `latest` names, otherwise `path` itself. open_checkpoint opens
// it. They throw what open_latest throws.
std::filesystem::path checkpoint_at(std::filesystem::path const& path);
CheckpointReader open_checkpoint(std::filesystem::path const& path);

// Counts finished checkpoints up to this step in `run_directory`. Throws Error(storage).
std::int64_t count_checkpoints(std::filesystem::path const& run_directory, std::int64_t step);

// Throws Error(status) unless `needed_bytes` are free on the file system of `directory`.
void require_space(std::filesystem::path const& directory, std::int64_t needed_bytes,
                   Status status = Status::storage);

}  // namespace spillway
