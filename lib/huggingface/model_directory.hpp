// A ModelDirectory reads a directory in which transformers has saved a model.
#pragma once

#include <filesystem>
#include <string>

#include "huggingface/named_source.hpp"
#include "huggingface/tensor_types.hpp"
#include "io/h5/carried_files.hpp"
#include "io/safetensors/reader.hpp"

namespace spillway {

// A ModelDirectory has the model's parameters in the types of their files, by the names and in the
// order of checkpoints.
class ModelDirectory : public TensorSource {
 public:
  // Reads config.json, the headers of the weights, and the values of tensors that may be copies.
  // Throws Error: bad_input, naming key or tensor, for a model that this program does not support;
  // damaged if files contradict themselves; storage if they cannot be read. Links are followed only
  // where open_inside follows them.
  explicit ModelDirectory(std::filesystem::path const& path);
  ModelDirectory(ModelDirectory const&) = delete;
  ModelDirectory& operator=(ModelDirectory const&) = delete;

  // Returns the description of config.json, except that the tensors have decided whether the head
  // is tied.
  ModelDescription const& description() const { return m_description; }
  TensorTypes const& types() const { return m_types; }
  // Returns the Config of a run that would have made this model, with the special ids that the
  // directory's files say. Throws what read_special_ids throws.
  Config config() const;
  // Returns what checkpoints of the model are to carry (carried_files.hpp): the types of its
  // tensors, the configuration and the files of the tokenizer, which those in `own` may replace, a
  // folder of adapters. Throws what read_model_files throws.
  CarriedFiles carried(std::filesystem::path const& own = {}) const;

  std::string place() const override { return m_path.string(); }
  TensorList const& tensors() const override { return m_tensors.tensors(); }
  void read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) override;

 private:
  NamedSource match();

  std::filesystem::path m_path;
  ModelDescription m_description;
  SafetensorsReader m_files;  // m_tensors reads these
  NamedSource m_tensors;
  TensorTypes m_types;
};

// Says that no model is at the path, and how one of the Hugging Face hub comes there.
std::string not_a_model(std::string const& path);

// Returns the model that a directory's config.json describes. Throws Error(bad_input) that names
// the file, and for an adapter, which is not supported.
ModelDescription describe_directory(std::filesystem::path const& path);

// Returns the Config of a run that would have made the model of the directory `path`
// (imported_config), with the special ids that the directory's files say. Throws what
// read_special_ids throws.
Config config_of(std::filesystem::path const& path, ModelDescription const& description,
                 ElementType type);

// Returns whether the path is a directory with a config.json, which checkpoints do not have.
bool is_model_directory(std::filesystem::path const& path);

}  // namespace spillway
