// These functions make a checkpoint atomic if they are called in this order. However the run dies,
// `latest` names a complete checkpoint at every moment, or there is none yet.
//
//   rank 0: begin_checkpoint -> <run>/step-<n>.partial     then a barrier (the caller's)
//   all:    ShardWriter in that directory                  then a barrier
//   rank 0: carried files, write_manifest, commit_checkpoint
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "base/error.hpp"
#include "io/h5/checkpoint_reader.hpp"

namespace spillway {

// Removes what interrupted saves left, as far as possible, and makes an empty directory for the
// checkpoint of `step`, which is returned. Throws Error(storage).
std::filesystem::path begin_checkpoint(std::filesystem::path const& run_directory,
                                       std::int64_t step);

// Removes what failed or interrupted saves left, as far as possible. Call it only while nobody else
// writes a checkpoint.
void abandon_checkpoint(std::filesystem::path const& run_directory) noexcept;

// Synchronises the checkpoint's directory, renames it to step-<n> (in place of an older one of that
// name) and points `latest` at it. The new `latest` is prepared beside the old one before the
// renaming, so that mend_latest can finish a commit that was interrupted. Throws Error(storage).
// Then removes all but the newest `keep` (>= 1) checkpoints of steps up to `step`; checkpoints of
// later steps stay. If something cannot be removed, returns a warning in one line.
[[nodiscard]] std::optional<std::string> commit_checkpoint(
    std::filesystem::path const& run_directory, std::int64_t step, std::int64_t keep);

// open_latest opens the checkpoint that `latest` names and compares the sizes of its shards with
// the seal; find_latest does so, too, and returns the directory. Both return nothing if there is no
// `latest`. They throw Error in one line that names the file: damaged if it is cut short or
// missing, bad_input or storage if it cannot be looked at. If the checkpoint cannot be used, the
// line also names the newest complete one before it.
std::optional<CheckpointReader> open_latest(std::filesystem::path const& run_directory);
std::optional<std::filesystem::path> find_latest(std::filesystem::path const& run_directory);

// checkpoint_at returns the directory of the checkpoint that a user means by `path`: if `path` is a
// run directory, the checkpoint that its `latest` names, otherwise `path` itself. open_checkpoint
// opens that checkpoint. Both throw what open_latest throws.
std::filesystem::path checkpoint_at(std::filesystem::path const& path);
CheckpointReader open_checkpoint(std::filesystem::path const& path);

// Returns how many finished checkpoints `run_directory` has of steps up to `step`. Throws
// Error(storage).
std::int64_t count_checkpoints(std::filesystem::path const& run_directory, std::int64_t step);

// Throws Error(status) unless `needed_bytes` are free on the file system of `directory`.
void require_space(std::filesystem::path const& directory, std::int64_t needed_bytes,
                   Status status = Status::storage);

}  // namespace spillway
