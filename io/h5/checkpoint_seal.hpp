// The seal of a checkpoint is a text file with the index, checksums of the manifest and of carried
// files (carried_files.hpp), and a checksum of itself. It is read without HDF5 and believed only if
// it is as it was written. Carried files are verified only when they are used.
#pragma once

#include <filesystem>

#include "io/file/file.hpp"
#include "io/h5/checkpoint_index.hpp"

namespace spillway {

inline constexpr char const* seal_name = "seal";

// Returns the index of a checkpoint, whose shards have the sizes that the index says. The index is
// read from the seal or, for version 1, by a child process from the HDF5 files. Throws Error that
// names the file: bad_input if there is no checkpoint or it is of a later version, damaged if a
// file is not what was written or says what cannot be.
CheckpointIndex read_index(std::filesystem::path const& directory);

// Seals `directory`, whose manifest and shards are on storage. Throws Error(storage).
void write_seal(std::filesystem::path const& directory, CheckpointIndex const& index);

// Each rank of a save writes a file that says what is in its shard, by write_shard_seal. The rank
// that seals the checkpoint reads and removes these files by take_shard_seal.
void write_shard_seal(std::filesystem::path const& directory, int rank,
                      CheckpointIndex const& index);
CheckpointIndex take_shard_seal(std::filesystem::path const& directory, int rank);

// Returns the checksum of all bytes of a shard that are no values, which HDF5 wrote. Throws Error:
// storage if they cannot be read, damaged if the file is too short.
std::string checksum_of_other_bytes(FileDescriptor const& file, std::filesystem::path const& path,
                                    CheckpointIndex const& index, std::size_t shard);

// Throws Error(bad_input) that says that this build does not read the format of `path`.
[[noreturn]] void refuse_version(std::filesystem::path const& path, std::string const& version);

// Throws Error(damaged) that names a shard that is missing or has another size than `index` says.
void require_shards(std::filesystem::path const& directory, CheckpointIndex const& index);

}  // namespace spillway
