// An AdapterDirectory reads a directory in which PEFT has saved adapters (LoRA).
#pragma once

#include <filesystem>
#include <string>

#include "config/config.hpp"
#include "huggingface/base_places.hpp"
#include "huggingface/model_directory.hpp"
#include "io/safetensors/reader.hpp"
#include "io/tensors/tensor_source.hpp"

namespace spillway {

// Returns whether the path is a directory with an adapter_config.json and no model beside it.
bool is_adapter_directory(std::filesystem::path const& path);

// Returns whether such a directory has files of this name.
bool is_adapter_file(std::string const& name);

// Has the adapters' parameters by the names of checkpoints, in the types of their file.
class AdapterDirectory : public TensorSource {
 public:
  // The adapters' base is the directory that they name, from the working directory or from their
  // own, or else one of the places. Throws Error(bad_input) that names file and key or tensor if
  // none of these is a model's, for what is not LoRA of linear layers, or has a form of it that is
  // not known here, and what SafetensorsReader throws.
  explicit AdapterDirectory(std::filesystem::path const& path, BasePlaces const& places = {});

  // Returns where the model is that the adapters are of: a directory of Hugging Face.
  std::filesystem::path const& base() const { return m_base; }
  // Returns what the adapters themselves say of that.
  std::string const& named_base() const { return m_named_base; }
  // Returns whether the base is not where the adapters say, but at one of places.starts.
  bool is_beside_start() const { return m_is_beside_start; }
  LoraConfig const& lora() const { return m_lora; }

  std::string place() const override { return m_path.string(); }
  TensorList const& tensors() const override { return m_tensors; }
  void read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) override {
    m_file.read(tensor, first, to);
  }

 private:
  void read_config(BasePlaces const& places);
  void name_tensors();

  std::filesystem::path m_path, m_base;
  std::string m_named_base;
  bool m_is_beside_start = false;
  LoraConfig m_lora;
  SafetensorsReader m_file;
  TensorList m_tensors;
};

// Returns the Config of a run that would have made the model with its adapters: that of their base
// with model.lora, and run.init.
Config adapted_config(AdapterDirectory const& adapters, ModelDirectory const& base);

// Returns the file of such a directory that has the weights.
std::filesystem::path adapter_weights(std::filesystem::path const& path);

// Describes the adapters for people, a line for each thing, whether or not their base is here.
std::string describe_adapters(std::filesystem::path const& path);

}  // namespace spillway
