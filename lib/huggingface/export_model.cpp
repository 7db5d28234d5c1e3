#include "huggingface/export_model.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "huggingface/description.hpp"
#include "huggingface/model_files.hpp"
#include "huggingface/named_source.hpp"
#include "huggingface/tensor_types.hpp"
#include "io/file/new_directory.hpp"
#include "io/file/output_file.hpp"
#include "io/file/read_file.hpp"
#include "io/h5/carried_files.hpp"
#include "io/safetensors/writer.hpp"
#include "io/tensors/copy_tensors.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

// What is known of the directory that a model came from; of a model of our own, nothing.
struct Origin {
  fs::path config_path;
  std::string config;  // text of its config.json
  TensorTypes types;
  std::vector<fs::path> files;  // beside config.json
};

Origin origin_of(fs::path const& checkpoint) {
  Origin origin;
  for (auto const& path : carried_files(checkpoint)) {
    auto const name = path.filename();
    if (name == kTypesFile) {
      origin.types = types_from_json(read_text(path, kMostCarriedBytes), path.string());
    } else if (name == kConfigFile) {
      origin.config_path = path;
      origin.config = read_text(path, kMostCarriedBytes);
    } else {
      origin.files.push_back(path);
    }
  }
  return origin;
}

Architecture architecture_by(Origin const& origin, ModelConfig const& model) {
  if (origin.config.empty()) return architecture_of(model);
  return describe_model(origin.config, origin.config_path.string()).architecture;
}

TensorList typed(std::vector<NamedTensor> const& names, TensorList const& tensors,
                 TensorTypes const& types) {
  std::vector<TensorEntry> entries;
  for (auto const& [name, number] : names)
    entries.push_back({name, types.of(tensors[number].name), tensors[number].shape});
  return TensorList(std::move(entries));
}

}  // namespace

ExportedModel export_model(TensorSource& weights, Config const& config, fs::path const& checkpoint,
                           std::optional<ElementType> type, fs::path const& to) {
  auto const origin = origin_of(checkpoint);
  auto const types = type ? TensorTypes{*type, {}} : origin.types;
  ModelDescription const description{architecture_by(origin, config.model), config.model};
  auto const names = exported_tensors(description, weights.tensors(), weights.place());
  auto const config_text = config_json(description, types.usual, origin.config, config.data);

  NewDirectory directory(to);
  NamedSource source(weights, names);
  SafetensorsWriter writer(directory.path(), typed(names, weights.tensors(), types));
  copy_tensors(source, writer);
  writer.finish();
  write_file(directory.path() / kConfigFile, config_text);
  for (auto const& file : origin.files)
    write_file(directory.path() / file.filename(), read_text(file, kMostCarriedBytes));
  directory.publish();

  return {names.size(), size_bytes(writer.tensors())};
}

}  // namespace spillway
