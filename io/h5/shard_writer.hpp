// Writes one rank's shard of a checkpoint (checkpoint_file.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/checksum.hpp"
#include "io/file/output_file.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_index.hpp"

namespace spillway {

// HDF5 lays the file out when a ShardWriter is made, and values are then written to their places in
// the file. Every failure of storage is an Error(storage).
class ShardWriter {
 public:
  // Takes those extents of `layout` that belong to `rank`; without any, no file is made. The
  // directory must exist (begin_checkpoint).
  ShardWriter(std::filesystem::path const& directory, int rank, CheckpointLayout const& layout);

  // Writes the next elements of an extent, which have the tensor's type. Each extent is written
  // once, from its first element to its last, in pieces of any size; pieces of different tensors
  // may alternate. `first_element` is counted from the beginning of the whole tensor. Bytes go to
  // storage soon, so that `close` need not wait for all of them.
  void write(std::string const& group, std::string const& name, std::int64_t first_element,
             std::span<std::byte const> from);

  // Every extent must be complete. Returns when the shard is on storage and the file of
  // write_shard_seal is written, which write_manifest needs.
  void close();

 private:
  struct Progress {
    TensorInfo tensor;
    std::int64_t first = 0, elements = 0, written = 0, offset_bytes = 0;
    StreamingChecksum checksum = {};  // of the block that is being written
    std::string checksums = {};
  };
  static void add_to_checksums(Progress& progress, std::span<std::byte const> from);

  CheckpointIndex index() const;

  std::filesystem::path m_directory, m_path;
  int m_rank;
  std::vector<Progress> m_progress;              // one for each extent, in the layout's order
  std::map<std::string, std::size_t> m_by_path;  // maps dataset paths to indices in m_progress
  std::optional<OutputFile> m_file;
};

}  // namespace spillway
