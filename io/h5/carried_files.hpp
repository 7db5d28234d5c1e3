// A checkpoint carries small files that lay beside the weights from which its model was imported,
// because an export needs them. A run reads these files when it starts and writes them into each of
// its checkpoints, so a later change of the files cannot keep the run from saving.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "io/file/file.hpp"
#include "io/h5/checkpoint_index.hpp"

namespace spillway {

// Carried files lie in the folder kCarriedFolder of a checkpoint; among them, kTypesFile says the
// types of the model's tensors.
inline constexpr char const *kCarriedFolder = "huggingface", *kTypesFile = "tensor-types.json";
inline constexpr std::int64_t kMostCarriedBytes = 64 << 20;        // the most bytes of one file
inline constexpr std::int64_t kMostCarriedBytesInAll = 128 << 20;  // the most bytes of all files
inline constexpr std::size_t kMostCarriedFiles = 32;

struct CarriedFile {
  std::string name;         // has no folder in it
  mode_t mode = kFileMode;  // the permissions of a copy, before the umask
  std::string text;
};
using CarriedFiles = std::vector<CarriedFile>;

std::int64_t size_bytes(CarriedFiles const& files);

// Writes the files into a new checkpoint, durably. Returns their checksums for its seal. Throws
// Error(storage).
CarriedSums write_carried(std::filesystem::path const& checkpoint, CarriedFiles const& files);

struct FoundFiles {
  CarriedFiles files;  // the files that are as the seal says
  // Has an Error for each other file that the seal lists: damaged if the file is missing or not as
  // the seal says, otherwise what keeps it from being read now.
  std::vector<Error> unread;
};

// Reads the files that the seal lists in `sums`. If one of them cannot be read, the others are read
// nevertheless. If there is no memory for a file, throws Error(cannot_fit) that names it instead of
// calling it damaged.
FoundFiles read_carried(std::filesystem::path const& checkpoint, CarriedSums const& sums);

// Returns a file's permission bits without those to execute, which are the most that a copy of it
// may have. Throws Error(storage) that names `path`.
mode_t mode_of(FileDescriptor const& file, std::filesystem::path const& path);

}  // namespace spillway
