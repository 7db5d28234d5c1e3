// Writes the weights of a directory in the safetensors format, as Hugging Face lays them out.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/file/output_file.hpp"
#include "io/safetensors/header.hpp"
#include "io/safetensors/written_ranges.hpp"
#include "io/tensors/tensor_sink.hpp"

namespace spillway {

// One file of a directory.
struct WeightShard {
  std::string file;
  std::vector<std::size_t> tensors;  // numbers in the list, in the order in which they lie
};

// One file, model.safetensors, where all tensors have `most_bytes` or less together; else a file is
// full where its next tensor does not fit any more. Larger elements lie before smaller ones in a
// file, so that all are aligned; else the list's order is kept.
std::vector<WeightShard> plan_shards(TensorList const& tensors, std::int64_t most_bytes);

inline constexpr std::int64_t kMostShardBytes = 5'000'000'000;  // the custom of the field

// Holds the headers in memory and one file open. Files have temporary names until `finish`; the
// index, which makes them a model, comes last.
class SafetensorsWriter : public TensorSink {
 public:
  // Makes the directory, where it is not there, and the files. Throws Error: bad_input where
  // weights are there already or space is not enough, storage where it cannot be written.
  SafetensorsWriter(std::filesystem::path const& directory, TensorList tensors,
                    std::int64_t most_shard_bytes = kMostShardBytes);
  SafetensorsWriter(SafetensorsWriter const&) = delete;
  SafetensorsWriter& operator=(SafetensorsWriter const&) = delete;
  ~SafetensorsWriter() override;

  TensorList const& tensors() const override { return m_tensors; }
  void write(std::size_t tensor, std::int64_t first, std::span<std::byte const> from) override;
  void finish() override;

 private:
  struct Place {
    std::size_t shard;
    std::int64_t offset_bytes;
    WrittenRanges written;
  };

  void begin_shard(std::size_t shard);
  void open_shard(std::size_t shard);
  void close_shard();
  bool is_complete(std::size_t tensor) const;
  void publish();
  void remove_unfinished() const noexcept;

  std::filesystem::path m_directory;
  TensorList m_tensors;
  std::vector<WeightShard> m_shards;
  std::vector<Place> m_places;  // by tensor
  std::optional<OutputFile> m_file;
  std::size_t m_open = 0;       // the shard of m_file
  std::size_t m_published = 0;  // so many shards have their final names
  bool m_finished = false;
};

}  // namespace spillway
