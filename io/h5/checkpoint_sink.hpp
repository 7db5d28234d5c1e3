// A checkpoint of weights that come from elsewhere, written by one process.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>

#include "io/file/new_directory.hpp"
#include "io/h5/carried_files.hpp"
#include "io/h5/shard_writer.hpp"
#include "io/tensors/tensor_sink.hpp"

namespace spillway {

// Holds a few megabytes of values at most.
class CheckpointSink : public TensorSink {
 public:
  // The tensors are those of the group `model`, all f32. Throws Error as NewDirectory does, and
  // Error(storage) where space is not enough.
  CheckpointSink(std::filesystem::path const& directory, TensorList tensors,
                 std::map<std::string, std::string> run_strings,
                 NewDirectory::MayReplace may_replace = {});

  // Makes it carry these, once. Throws Error(storage).
  void carry(CarriedFiles const& files);

  TensorList const& tensors() const override { return m_tensors; }
  // As ShardWriter::write: each tensor from its first element to its last.
  void write(std::size_t tensor, std::int64_t first, std::span<std::byte const> from) override;
  // Also seals it.
  void finish() override;

 private:
  TensorList m_tensors;
  std::map<std::string, std::string> m_run_strings;
  NewDirectory m_directory;
  CheckpointLayout m_layout;
  ShardWriter m_shard;
  CarriedSums m_carried;
};

}  // namespace spillway
