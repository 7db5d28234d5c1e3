// Writes one rank's shard of a checkpoint (checkpoint_file.hpp).
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "base/checksum.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/h5_file.hpp"

namespace spillway {

// All its space is laid out when it is made. Every failure is an Error(storage).
class ShardWriter {
 public:
  // Takes those of `specs` whose shard is `rank`; the directory exists (begin_checkpoint).
  ShardWriter(std::filesystem::path const& directory, int rank, std::span<TensorSpec const> specs);

  // Each tensor is written once, from its first element to its last, in pieces of any size; pieces
  // of different tensors may alternate.
  void write(std::string const& group, std::string const& name, std::int64_t first_element,
             std::span<float const> from);

  // Every tensor must be complete. Returns when the shard is on storage.
  void close();

 private:
  struct Progress {
    std::int64_t elements, written;
    StreamingChecksum checksum;
  };

  H5File m_file;
  std::map<std::string, Progress> m_progress;  // by dataset path
};

}  // namespace spillway
