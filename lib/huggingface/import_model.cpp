#include "huggingface/import_model.hpp"

#include "huggingface/model_directory.hpp"
#include "io/safetensors/reader.hpp"

namespace spillway {

Config import_model(std::string const& directory) {
  bool const has_weights = is_safetensors(directory);
  auto config = has_weights ? ModelDirectory(directory).config()
                            : config_of(directory, describe_directory(directory), ElementType::f32);
  // Beginning with weights of another format fails with a message that says what to do.
  if (has_weights || has_pickled_weights(directory)) config.run.init = directory;
  return config;
}

}  // namespace spillway
