// Small files that a checkpoint carries for the one who exports its model: what lay beside the
// weights that it was imported from. A run reads them when it starts and puts them into each of its
// checkpoints: nothing that becomes of them later on storage can keep it from saving.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "io/file/file.hpp"
#include "io/h5/checkpoint_index.hpp"

namespace spillway {

// The folder of a checkpoint that has them, and the one of them that says the tensors' types.
inline constexpr char const *kCarriedFolder = "huggingface", *kTypesFile = "tensor-types.json";
inline constexpr std::int64_t kMostCarriedBytes = 64 << 20;        // of one of them
inline constexpr std::int64_t kMostCarriedBytesInAll = 128 << 20;  // a run keeps them in memory
inline constexpr std::size_t kMostCarriedFiles = 32;

struct CarriedFile {
  std::string name;         // without a folder
  mode_t mode = kFileMode;  // as wide as it may become where it is written, less the umask
  std::string text;
};
using CarriedFiles = std::vector<CarriedFile>;

std::int64_t size_bytes(CarriedFiles const& files);

// Writes them into a new checkpoint, durably. Returns what its seal is to say of them. Throws
// Error(storage).
CarriedSums write_carried(std::filesystem::path const& checkpoint, CarriedFiles const& files);

struct FoundFiles {
  CarriedFiles files;                // as they were sealed
  std::vector<std::string> damaged;  // a line for each of the others
};

// Reads those of which the seal says `sums`. What keeps one from being read damages no other, and
// no weights. Throws Error(cannot_fit) that names the one for which there is no memory: none is
// damaged.
FoundFiles read_carried(std::filesystem::path const& checkpoint, CarriedSums const& sums);

// Its permission bits, without those to execute: the most that a copy of it may have. Throws
// Error(storage) naming `path`.
mode_t mode_of(FileDescriptor const& file, std::filesystem::path const& path);

}  // namespace spillway
