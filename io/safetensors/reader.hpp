// A SafetensorsReader reads the weights of a directory, or of one file, in the safetensors format.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/file/file.hpp"
#include "io/tensors/tensor_source.hpp"

namespace spillway {

// A reader keeps all headers in memory, but has only one file open at a time.
class SafetensorsReader : public TensorSource {
 public:
  // `path` is a directory with model.safetensors or else model.safetensors.index.json, or one such
  // file by any name (an index ends in .json). Files that a directory or an index names are opened
  // by open_inside. Throws Error that names the file and, if one is at fault, the tensor: bad_input
  // if a file is missing or of another kind or a dtype is not known, storage if a file cannot be
  // read, damaged if one is cut short or contradicts itself or the index.
  explicit SafetensorsReader(std::filesystem::path const& path);

  std::string place() const override { return m_path.string(); }
  TensorList const& tensors() const override { return m_tensors; }  // sorted by file, then offset
  void read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) override;

  std::int64_t size_bytes() const { return m_size_bytes; }  // the sum over all files
  std::size_t files() const { return m_files.size(); }

 private:
  struct TensorInFile {
    std::size_t file;
    std::int64_t offset_bytes;
  };

  void add_indexed(std::filesystem::path const& path);
  std::vector<TensorEntry> add_file(std::filesystem::path const& path);
  FileDescriptor open_file(std::filesystem::path const& path) const;

  std::filesystem::path m_path;
  std::vector<std::filesystem::path> m_files;
  TensorList m_tensors;
  std::vector<TensorInFile> m_places;  // where each tensor lies
  std::int64_t m_size_bytes = 0;
  FileDescriptor m_file;  // the file that was read last
  std::optional<std::size_t> m_open;
};

// Returns whether a directory has weights in torch's pickled format, which this program does not
// read.
bool has_pickled_weights(std::filesystem::path const& directory);

// Returns whether a SafetensorsReader is meant to read `path`: a file whose name ends in
// .safetensors or .safetensors.index.json, or a directory with a kWeightFile or kIndexFile. Opens
// no file.
bool is_safetensors(std::filesystem::path const& path);

}  // namespace spillway
