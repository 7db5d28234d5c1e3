#include "huggingface/import_model.hpp"

#include "huggingface/imported_config.hpp"
#include "huggingface/model_directory.hpp"
#include "huggingface/special_ids.hpp"
#include "io/safetensors/reader.hpp"

namespace spillway {

Config import_model(std::string const& directory) {
  Config config;
  if (is_safetensors(directory)) {
    config = ModelDirectory(directory).config();
    config.run.init = directory;
  } else {
    auto const description = describe_directory(directory);
    config = imported_config(description.model, ElementType::f32);
    read_special_ids(directory, description, config.data);
  }
  return config;
}

}  // namespace spillway
