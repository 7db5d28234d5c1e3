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

// A WeightShard is one of the files that hold a model's tensors.
struct WeightShard {
  std::string file;
  std::vector<std::size_t> tensors;  // indices in the TensorList, in the order of the file's bytes
};

// Puts tensors into one file, model.safetensors, if they have at most `most_bytes` together.
// Otherwise a new file begins when the next tensor does not fit. In a file, tensors with larger
// elements lie before others, so that all are aligned; apart from that, the list's order is kept.
std::vector<WeightShard> plan_shards(TensorList const& tensors, std::int64_t most_bytes);

inline constexpr std::int64_t kMostShardBytes = 5'000'000'000;  // usual limit of safetensors files

// A writer has only one file open at a time. Files have temporary names until `finish`. If there
// are several files, `finish` writes the index last, because readers find the files by the index.
class SafetensorsWriter : public TensorSink {
 public:
  // Makes the files, and the directory if it is missing. Throws Error: bad_input if weights are
  // there already or there is not enough space, storage if the directory or a file cannot be
  // written.
  SafetensorsWriter(std::filesystem::path const& directory, TensorList tensors,
                    std::int64_t most_shard_bytes = kMostShardBytes);
  SafetensorsWriter(SafetensorsWriter const&) = delete;
  SafetensorsWriter& operator=(SafetensorsWriter const&) = delete;
  ~SafetensorsWriter() override;

  TensorList const& tensors() const override { return m_tensors; }
  void write(std::size_t tensor, std::int64_t first, std::span<std::byte const> from) override;
  void finish() override;

 private:
  struct TensorInShard {
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
  std::vector<TensorInShard> m_places;  // where each tensor lies
  std::optional<OutputFile> m_file;
  std::size_t m_open = 0;       // the index of the shard that m_file is
  std::size_t m_published = 0;  // how many shards have their final names
  bool m_finished = false;
};

}  // namespace spillway
