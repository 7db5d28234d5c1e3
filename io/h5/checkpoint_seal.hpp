// The seal of a checkpoint: a text file with the index, checksums of the manifest and of what is
// carried (carried_files.hpp), and one of itself. What is sealed is believed only as it was
// written, and read without HDF5. What is carried is proved where it is wanted.
#pragma once

#include <filesystem>

#include "io/file/file.hpp"
#include "io/h5/checkpoint_index.hpp"

namespace spillway {

inline constexpr char const* seal_name = "seal";

// The index of a checkpoint directory, whose shards are there in the sizes that it says: from the
// seal, or, of a checkpoint from before there were seals, from the HDF5 files in a child process.
// Throws Error, naming the file: bad_input when there is no checkpoint or it is of a later version,
// damaged when it is not what was written or says what cannot be.
CheckpointIndex read_index(std::filesystem::path const& directory);

// Seals `directory`, whose manifest and shards are on storage. Throws
// Error(storage).
void write_seal(std::filesystem::path const& directory, CheckpointIndex const& index);

// Between the ranks of a save: what is in the shard of one, before the whole is sealed.
void write_shard_seal(std::filesystem::path const& directory, int rank,
                      CheckpointIndex const& index);
CheckpointIndex take_shard_seal(std::filesystem::path const& directory, int rank);  // removes it

// Of all bytes of a shard that are no values: what HDF5 made of it. Throws Error: storage when it
// cannot be read, damaged when it is too short.
std::string checksum_of_rest(FileDescriptor const& file, std::filesystem::path const& path,
                             CheckpointIndex const& index, std::size_t shard);

// Throws Error(bad_input): `path` is of a format that this build does not read.
[[noreturn]] void refuse_version(std::filesystem::path const& path, std::string const& version);

// Throws Error(damaged) naming the shard that is missing or of another size.
void require_shards(std::filesystem::path const& directory, CheckpointIndex const& index);

}  // namespace spillway
