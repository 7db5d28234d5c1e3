// Reads the weights of a directory, or of one file, in the safetensors format.
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

// Holds the headers in memory and one file open, whatever the number of files.
class SafetensorsReader : public TensorSource {
 public:
  // `path` is a directory with model.safetensors or else model.safetensors.index.json, or such a
  // file by any name. What a directory or an index names is read as open_inside reads it. Reads all
  // headers. Throws Error that names file and tensor: bad_input where
  // there are no such files or they are of another kind, damaged where one is cut short or
  // contradicts itself or the index.
  explicit SafetensorsReader(std::filesystem::path const& path);

  std::string place() const override { return m_path.string(); }
  TensorList const& tensors() const override { return m_tensors; }  // file by file, as they lie
  void read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) override;

  std::int64_t size_bytes() const { return m_size_bytes; }  // of all files with tensors
  std::size_t files() const { return m_files.size(); }

 private:
  struct Place {
    std::size_t file;
    std::int64_t offset_bytes;
  };

  void add_indexed(std::filesystem::path const& path);
  std::vector<TensorEntry> add_file(std::filesystem::path const& path);
  FileDescriptor open_file(std::filesystem::path const& path) const;

  std::filesystem::path m_path;
  std::vector<std::filesystem::path> m_files;
  TensorList m_tensors;
  std::vector<Place> m_places;  // by tensor
  std::int64_t m_size_bytes = 0;
  FileDescriptor m_file;  // the one that was read last
  std::optional<std::size_t> m_open;
};

// Whether a directory has weights as torch saves them, which nobody here reads.
bool has_pickled_weights(std::filesystem::path const& directory);

// Whether SafetensorsReader is meant: a name that ends as its files' do, or a directory with one.
bool is_safetensors(std::filesystem::path const& path);

}  // namespace spillway
