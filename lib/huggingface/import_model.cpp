#include "huggingface/import_model.hpp"

#include "huggingface/imported_config.hpp"
#include "huggingface/model_directory.hpp"
#include "huggingface/special_ids.hpp"
#include "io/safetensors/reader.hpp"

namespace spillway {

Config import_model(std::string const& directory) {
  Config config;
  bool const has_weights = is_safetensors(directory);
  if (has_weights) {
    config = ModelDirectory(directory).config();
  } else {
    auto const description = describe_directory(directory);
    config = imported_config(description.model, ElementType::f32);
    read_special_ids(directory, description, config.data);
  }
  // To begin with weights of another format fails and says what to do.
  if (has_weights || has_pickled_weights(directory)) config.run.init = directory;
  return config;
}

}  // namespace spillway
