#include "huggingface/import_model.hpp"

#include <filesystem>

#include "base/input_file.hpp"
#include "huggingface/description.hpp"

namespace spillway {

ModelConfig import_model(std::string const& directory) {
  auto const path = std::filesystem::path(directory) / kConfigFile;
  return describe_model(read_input(path, kMostConfigBytes), path.string()).model;
}

}  // namespace spillway
