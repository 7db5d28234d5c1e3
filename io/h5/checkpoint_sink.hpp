// Writes a checkpoint of weights that no run has made, such as imported ones, in one process.
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

// A CheckpointSink writes values at once and keeps none in memory.
class CheckpointSink : public TensorSink {
 public:
  // All tensors must be f32; they become the group `model`. Throws what NewDirectory throws,
  // Error(bad_input) if there is not enough space, and Error(storage) if a file cannot be written.
  CheckpointSink(std::filesystem::path const& directory, TensorList tensors,
                 std::map<std::string, std::string> run_strings,
                 NewDirectory::MayReplace may_replace = {});

  // Makes the checkpoint carry these files. Call it at most once. Throws Error(storage).
  void carry(CarriedFiles const& files);

  TensorList const& tensors() const override { return m_tensors; }
  // Each tensor must be written from its first element to its last, in pieces of any size; pieces
  // of different tensors may alternate.
  void write(std::size_t tensor, std::int64_t first, std::span<std::byte const> from) override;
  // Writes the seal and gives the checkpoint its name. Every element must have been written.
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
