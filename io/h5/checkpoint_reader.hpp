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
#include "io/h5/h5_file.hpp"

namespace spillway {

struct TensorInfo {
  std::string group, name;
  std::vector<std::int64_t> shape;
};

// Every rank may have one over the same directory. Throws Error: bad_input when there is no
// checkpoint, damaged (naming the file) when a file is cut short, missing or not what was written.
class CheckpointReader {
 public:
  // Reads the manifest and compares the shards' sizes with it; their contents are checked by read.
  explicit CheckpointReader(std::filesystem::path const& directory);

  std::filesystem::path const& directory() const { return m_directory; }
  std::map<std::string, std::string> const& run_strings() const { return m_run_strings; }
  // Sorted by group, then name.
  std::vector<TensorInfo> const& tensors() const { return m_tensors; }
  // nullptr: the checkpoint has no such tensor.
  TensorInfo const* find(std::string const& group, std::string const& name) const;
  std::int64_t size_bytes() const { return m_size_bytes; }  // of all shards

  // Elements [first, first + size) of a tensor that exists. A tensor read from its first element to
  // its last, with no other read between, is verified against its checksum at the last.
  void read(std::string const& group, std::string const& name, std::int64_t first,
            std::span<float> to);

 private:
  struct Location {
    std::size_t shard;
    std::string checksum;
  };
  // The tensor being read in order.
  struct Progress {
    std::size_t tensor;
    std::int64_t next = 0;
  };

  void read_tensor_list();
  void check_shard_sizes();
  H5File& shard(std::size_t rank);
  void verify(std::size_t tensor, std::int64_t first, std::span<float const> values);

  std::filesystem::path m_directory;
  H5File m_manifest;
  std::map<std::string, std::string> m_run_strings;
  std::vector<TensorInfo> m_tensors;
  std::vector<Location> m_locations;            // of m_tensors
  std::map<std::string, std::size_t> m_index;   // dataset path -> position in m_tensors
  std::vector<std::optional<H5File>> m_shards;  // opened when needed
  std::int64_t m_size_bytes = 0;
  std::optional<Progress> m_progress;
  StreamingChecksum m_checksum;
};

}  // namespace spillway
