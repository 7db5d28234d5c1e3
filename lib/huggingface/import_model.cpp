#include "huggingface/import_model.hpp"

#include <filesystem>

#include "base/input_file.hpp"
#include "huggingface/description.hpp"
#include "huggingface/model_directory.hpp"
#include "io/safetensors/reader.hpp"

namespace spillway {

ModelConfig import_model(std::string const& directory) {
  if (is_safetensors(directory)) return ModelDirectory(directory).description().model;
  auto const path = std::filesystem::path(directory) / kConfigFile;
  return describe_model(read_input(path, kMostConfigBytes), path.string()).model;
}

}  // namespace spillway
