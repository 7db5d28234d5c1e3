#include "huggingface/import_model.hpp"

#include <filesystem>
#include <optional>
#include <system_error>

#include "base/error.hpp"
#include "base/number.hpp"
#include "config/load.hpp"
#include "huggingface/adapter_directory.hpp"
#include "huggingface/model_directory.hpp"
#include "io/h5/checkpoint_dir.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/safetensors/reader.hpp"
#include "model/model.hpp"

namespace spillway {
namespace {

bool is_checkpoint(std::filesystem::path const& directory) {
  std::error_code ignored;  // if this fails, reading the directory says why
  return std::filesystem::exists(checkpoint_at(directory) / manifest_name, ignored);
}

Config model_of_checkpoint(std::string const& directory) {
  auto const checkpoint = open_checkpoint(directory);
  auto const place = checkpoint.directory().string();
  auto const& texts = checkpoint.run_strings();
  auto const config = texts.find("config"), vocab = texts.find("vocab");
  auto const words = vocab == texts.end() ? std::nullopt : to_number<std::int64_t>(vocab->second);
  if (config == texts.end() || !words || *words < 1)
    throw Error(Status::damaged, place + ": says no model and vocabulary");
  auto result = parse_config(config->second, place, {}, elsewhere);
  result.model = completed(result, *words);
  result.run.init = directory;
  return result;
}

Config imported(std::string const& directory, BasePlaces const& places) {
  if (!is_model_directory(directory) && is_checkpoint(directory))
    return model_of_checkpoint(directory);
  if (is_adapter_directory(directory)) {
    AdapterDirectory const adapters(directory, places);
    return adapted_config(adapters, ModelDirectory(adapters.base()));
  }
  bool const has_weights = is_safetensors(directory);
  auto config = has_weights ? ModelDirectory(directory).config()
                            : config_of(directory, describe_directory(directory), ElementType::f32);
  // Beginning with weights of another format fails with a message that says what to do.
  if (has_weights || has_pickled_weights(directory)) config.run.init = directory;
  return config;
}

}  // namespace

Config import_model(std::string const& directory) {
  return imported(directory, {});
}

ImportModel import_model_beside(std::string const& base) {
  return [base](std::string const& directory) { return imported(directory, {base, {}}); };
}

}  // namespace spillway
