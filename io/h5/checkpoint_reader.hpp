// Reads a checkpoint directory (checkpoint_file.hpp), whatever number of ranks wrote it.
#pragma once

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

namespace spillway {

// Every rank may have one over the same directory. Throws Error: bad_input when there is no
// checkpoint, damaged (naming the file) when a file is cut short, missing or not what was written.
class CheckpointReader {
 public:
  // Reads the index and compares the shards' sizes with it; their contents are checked by read.
  // The step that it names must be that of a directory called step-<n>.
  explicit CheckpointReader(std::filesystem::path const& directory);

  std::filesystem::path const& directory() const { return m_directory; }
  std::map<std::string, std::string> const& run_strings() const { return m_index.run_strings; }
  std::vector<TensorInfo> const& tensors() const { return m_index.tensors; }
  // nullptr: the checkpoint has no such tensor.
  TensorInfo const* find(std::string const& group, std::string const& name) const;
  std::int64_t size_bytes() const;  // of all shards
  CarriedSums const& carried() const { return m_index.carried; }
  // What lies in the directory, or in its folder of carried files, and is none of its own: such as
  // a backup's. Sorted, relative to the directory. Looks as far as it can, and throws nothing.
  std::vector<std::string> strangers() const;

  // Elements [first, first + size) of a tensor that exists and has them. A tensor read from its
  // first element to its last, with no other read between, is verified: every extent of it against
  // its checksum at its last element.
  void read(std::string const& group, std::string const& name, std::int64_t first,
            std::span<float> to);

 private:
  // The extent that is being read in order.
  struct Progress {
    std::size_t extent;
    std::int64_t next = 0;  // element of it
  };

  void require_step_of_name() const;
  std::size_t extent_at(std::size_t tensor, std::int64_t element) const;
  void open_shard(std::size_t shard);
  void read_extent(std::size_t extent, std::int64_t first, std::span<float> to);
  void verify(std::size_t extent, std::int64_t first, std::span<float const> values);
  std::filesystem::path shard_path(std::size_t shard) const;

  std::filesystem::path m_directory;
  CheckpointIndex m_index;
  std::map<std::string, std::size_t> m_positions;  // in m_index.tensors, by dataset path
  FileDescriptor m_file;                           // the shard that was read last
  std::optional<std::size_t> m_open;               // its position in m_index.shards
  std::vector<bool> m_rest_is_known;               // by shard: all but the values is as written
  std::optional<Progress> m_progress;
  StreamingChecksum m_checksum;
};

}  // namespace spillway
