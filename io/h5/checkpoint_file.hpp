// A checkpoint is a directory. It has a shard for every rank that has something to write, a
// manifest (checkpoint.h5) and a seal (checkpoint_seal.hpp).
//
//   shard-<rank>.h5   /model/<name>, /optimizer/<state>/<name>, in the types that the run keeps
//                     them in, contiguous; if several ranks share a tensor, one flat extent of its
//                     elements. With precision bf16, /model is bf16 (an HDF5 float of 16 bits,
//                     which h5py shows as float32) and /optimizer/remainder int16: the bits of the
//                     fp32 master are 65536 x those of the bf16 value plus the signed remainder,
//                     modulo 2^32. Imported weights are float32.
//   checkpoint.h5     for other programs: the same names as virtual datasets over the shards, so
//                     that any HDF5 reader sees whole tensors; and /run, which holds what a run
//                     remembers (attributes, JSON text)
//   huggingface/      if the model was imported: files that its next export needs
//                     (carried_files.hpp)
//   seal              for this program: where in which shard every extent of a tensor lies, the
//                     XXH3-64 of each of its blocks, a copy of /run, and checksums of every other
//                     byte of all files
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

#include "io/h5/checkpoint_index.hpp"
#include "io/h5/checkpoint_layout.hpp"

namespace spillway {

inline constexpr char const* checkpoint_format = "spillway-checkpoint";
inline constexpr std::int64_t checkpoint_version = 4;
inline constexpr char const* manifest_name = "checkpoint.h5";
inline constexpr char const* kWeightsGroup = "model";
inline constexpr char const* kOptimizerGroup = "optimizer/";  // a state's name follows
inline constexpr char const* kRemainderGroup = "optimizer/remainder";

std::string shard_name(int rank);  // "shard-<rank>.h5"
std::string dataset_path(std::string const& group, std::string const& name);

// Writes the manifest and the seal. One rank calls this when the shards of all ranks in `layout`
// are closed and carried files are written. Throws Error: storage if the manifest or the seal
// cannot be written, damaged if a shard is not what the layout says.
void write_manifest(std::filesystem::path const& directory, CheckpointLayout const& layout,
                    std::map<std::string, std::string> const& run_strings,
                    CarriedSums const& carried = {});

}  // namespace spillway
