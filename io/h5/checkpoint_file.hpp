// A checkpoint on disk: a directory with a shard for every rank that has something to write,
// checkpoint.h5, the manifest, and the seal (checkpoint_seal.hpp).
//
//   shard-<rank>.h5   /model/<name>, /optimizer/m/<name>, /optimizer/v/<name>: float32, contiguous;
//                     of a tensor that several ranks share, an extent of its elements, flat
//   checkpoint.h5     for other programs: the same names as virtual datasets over the shards, so
//                     that any HDF5 reader sees whole tensors, each with the XXH3-64 (hex) of its
//                     extents; /run: what the run wants to remember (attributes, JSON text)
//   huggingface/      of a model that came from elsewhere: what its next export needs
//                     (carried_files.hpp)
//   seal              for this one: where in which shard every extent of a tensor lies, /run once
//                     more, and checksums of every byte of all files
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "io/h5/checkpoint_index.hpp"
#include "io/h5/checkpoint_layout.hpp"

namespace spillway {

inline constexpr char const* checkpoint_format = "spillway-checkpoint";
inline constexpr std::int64_t checkpoint_version = 3;
inline constexpr char const* manifest_name = "checkpoint.h5";

std::string shard_name(int rank);  // "shard-<rank>.h5"
std::string dataset_path(std::string const& group, std::string const& name);

// Writes manifest and seal: run by one rank when the shards of all ranks in `layout` are closed and
// what is carried is there.
// Throws Error(storage) when they cannot be written, Error(damaged) when a shard is not what the
// layout says.
void write_manifest(std::filesystem::path const& directory, CheckpointLayout const& layout,
                    std::map<std::string, std::string> const& run_strings,
                    CarriedSums const& carried = {});

}  // namespace spillway
