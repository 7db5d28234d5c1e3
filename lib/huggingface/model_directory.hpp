// A directory as transformers saves a model, read.
#pragma once

#include <filesystem>
#include <string>

#include "huggingface/named_source.hpp"
#include "huggingface/tensor_types.hpp"
#include "io/h5/carried_files.hpp"
#include "io/safetensors/reader.hpp"

namespace spillway {

// The parameters of its model in the types of its files, by the names and in the order of
// checkpoints.
class ModelDirectory : public TensorSource {
 public:
  // Reads config.json and the heads of the weights; and values, where two tensors may be one.
  // Throws Error: bad_input for a model that is not ours, naming key or tensor, damaged where files
  // contradict themselves, storage where they cannot be read. Links are followed as open_inside
  // does.
  explicit ModelDirectory(std::filesystem::path const& path);
  ModelDirectory(ModelDirectory const&) = delete;
  ModelDirectory& operator=(ModelDirectory const&) = delete;

  // Of the model as its tensors are: the head is tied or not as they say.
  ModelDescription const& description() const { return m_description; }
  TensorTypes const& types() const { return m_types; }
  Config config() const;  // as config_of
  // What checkpoints of the model are to carry (carried_files.hpp): the types of its tensors, the
  // configuration and the files of the tokenizer. Throws as read_model_files.
  CarriedFiles carried() const;

  std::string place() const override { return m_path.string(); }
  TensorList const& tensors() const override { return m_tensors.tensors(); }
  void read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) override;

 private:
  NamedSource match();

  std::filesystem::path m_path;
  ModelDescription m_description;
  SafetensorsReader m_files;  // of which m_tensors are
  NamedSource m_tensors;
  TensorTypes m_types;
};

// What its config.json describes. Throws Error(bad_input) that names the file.
ModelDescription describe_directory(std::filesystem::path const& path);

// The imported_config of what a directory describes, with the special ids that it knows. Throws
// what read_special_ids throws.
Config config_of(std::filesystem::path const& path, ModelDescription const& description,
                 ElementType type);

// Whether a ModelDirectory is meant, and no checkpoint.
bool is_model_directory(std::filesystem::path const& path);

}  // namespace spillway
