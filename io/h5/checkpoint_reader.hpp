// Reads a checkpoint directory (checkpoint_file.hpp) that any number of ranks may have written.
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
#include "io/file/file.hpp"
#include "io/h5/checkpoint_index.hpp"
#include "io/tensors/tensor_range.hpp"

namespace spillway {

// Every rank may have a reader of the same directory. The constructor and `read` throw Error that
// names the file: bad_input if there is no checkpoint or it cannot be opened, damaged if a file is
// cut short, missing or not what was written, storage if reading fails.
class CheckpointReader {
 public:
  // Reads the index and compares the shards' sizes with it; their contents are checked by `read`.
  // If the directory is called step-<n>, the checkpoint must be of step n.
  explicit CheckpointReader(std::filesystem::path const& directory);

  std::filesystem::path const& directory() const { return m_directory; }
  std::map<std::string, std::string> const& run_strings() const { return m_index.run_strings; }
  std::vector<TensorInfo> const& tensors() const { return m_index.tensors; }
  // Returns null if the checkpoint has no such tensor.
  TensorInfo const* find(std::string const& group, std::string const& name) const;
  std::int64_t size_bytes() const;  // the sum over all shards, without other files
  CarriedSums const& carried() const { return m_index.carried; }
  // Lists files in the directory, or in its folder of carried files, that do not belong to the
  // checkpoint, such as a backup's. Paths are sorted and relative to the directory. Throws nothing;
  // what cannot be listed is left out.
  std::vector<std::string> foreign_files() const;

  // Reads whole elements of a tensor that exists and has them, from `first` on, as they are stored.
  // The checksum of a block is verified when its last element is read, if the block was read from
  // its first element on in order; reads of other extents may stand between.
  void read(std::string const& group, std::string const& name, std::int64_t first,
            std::span<std::byte> to);
  // Returns the elements that must be read in order so that [first, last) are verified: all of the
  // blocks that have any of them. An empty range needs none.
  TensorRange verified_range(std::string const& group, std::string const& name,
                             TensorRange range) const;
  // Returns a checksum of all tensors, as the index has them: no value is read for it.
  std::string checksum() const { return checksum_of(m_index); }

 private:
  // A Progress says how far a block has been read from its first element on without a gap.
  struct Progress {
    std::int64_t next = 0;  // the element to read next, counted from the extent's first
    StreamingChecksum checksum = {};
  };

  void require_step_of_name() const;
  std::size_t number_of(std::string const& group, std::string const& name) const;
  std::size_t extent_at(std::size_t tensor, std::int64_t element) const;
  void open_shard(std::size_t shard);
  void read_extent(std::size_t extent, std::int64_t first, std::span<std::byte> to);
  void verify(std::size_t extent, std::int64_t first, std::span<std::byte const> values);
  void verify_block(std::size_t extent, std::int64_t first, std::span<std::byte const> values);
  std::filesystem::path shard_path(std::size_t shard) const;

  std::filesystem::path m_directory;
  CheckpointIndex m_index;
  std::map<std::string, std::size_t> m_positions;  // indices in m_index.tensors, by dataset path
  FileDescriptor m_file;                           // the shard that was read last
  std::optional<std::size_t> m_open_shard;  // which of m_index.shards m_file is, if it is open
  std::vector<bool> m_others_verified;  // by shard: whether bytes other than values are verified
  std::map<std::size_t, Progress> m_progress;  // by extent, of blocks that are read in part
};

}  // namespace spillway
