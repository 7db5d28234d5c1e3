#include "huggingface/export_model.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/work_progress.hpp"
#include "huggingface/description.hpp"
#include "huggingface/model_files.hpp"
#include "huggingface/named_source.hpp"
#include "huggingface/tensor_types.hpp"
#include "io/file/new_directory.hpp"
#include "io/file/output_file.hpp"
#include "io/safetensors/writer.hpp"
#include "io/tensors/copy_tensors.hpp"
#include "io/tensors/finite.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

// An Origin has what is known of the directory from which a model was imported. It is empty if the
// model was not imported.
struct Origin {
  CarriedFile config;  // its config.json; the text is empty if there is none
  TensorTypes types;
  CarriedFiles files;  // the files beside config.json
};

// Sorts the files that the checkpoint `place` carries. Only model files are taken, so that none can
// replace a file that export writes itself.
Origin origin_of(CarriedFiles const& carried, std::string const& place) {
  Origin origin;
  std::vector<std::string> foreign;
  for (auto const& file : carried) {
    if (file.name == kTypesFile) {
      origin.types = types_from_json(file.text, fmt::format("{}: {}", place, kTypesFile));
    } else if (file.name == kConfigFile) {
      origin.config = file;
    } else if (is_model_file(file.name)) {
      origin.files.push_back(file);
    } else {
      foreign.push_back(file.name);
    }
  }
  if (!foreign.empty())
    log_warning("{}: carries files that are left out, for no tokenizer has such: {}", place,
                fmt::join(foreign, ", "));
  return origin;
}

std::string place_of_config(std::string const& place) {
  return fmt::format("{}: {}", place, kConfigFile);
}

Architecture architecture_by(Origin const& origin, ModelConfig const& model,
                             std::string const& place) {
  if (origin.config.text.empty()) return architecture_of(model);
  return describe_model(origin.config.text, place_of_config(place)).architecture;
}

// Returns the type to which transformers rounds all tensors: that of the original config.json if it
// rounds nothing, otherwise the narrowest type that rounds nothing.
ElementType dtype_of(Origin const& origin, TensorList const& tensors, std::string const& place) {
  auto const common = common_type(tensors);
  if (origin.config.text.empty()) return common;
  auto const said = said_type(origin.config.text, place_of_config(place));
  return said && holds(*said, common) ? *said : common;
}

TensorList typed(std::vector<NamedTensor> const& names, TensorList const& tensors,
                 TensorTypes const& types) {
  std::vector<TensorEntry> entries;
  for (auto const& [name, number] : names)
    entries.push_back({name, types.of(tensors[number].name), tensors[number].shape});
  return TensorList(std::move(entries));
}

}  // namespace

void require_exportable(std::string const& place, TensorEntry const& tensor,
                        ValueCounts const& counts) {
  auto const elements = element_count(tensor);
  require_finite(place, tensor.name, elements, counts);
  if (counts.become_infinite == 0) return;
  throw Error(Status::bad_input,
              fmt::format("{}: {}: {} of {} values are too large for {}; give --dtype {}f32", place,
                          tensor.name, counts.become_infinite, elements, name(tensor.type),
                          tensor.type == ElementType::f16 ? "bf16 or " : ""));
}

ExportedModel export_model(TensorSource& weights, Config const& config, CarriedFiles const& carried,
                           std::optional<ElementType> type, fs::path const& to,
                           NewDirectory::MayReplace may_replace) {
  auto const place = weights.place();
  auto const origin = origin_of(carried, place);
  auto const types = type ? TensorTypes{*type, {}} : origin.types;
  ModelDescription const description{architecture_by(origin, config.model, place), config.model};
  auto const names = exported_tensors(description, weights.tensors(), place);
  auto const tensors = typed(names, weights.tensors(), types);
  auto const dtype = type ? *type : dtype_of(origin, tensors, place);
  auto const config_text = config_json(description, dtype, origin.config.text, config.data);

  ExportedModel exported{names.size(), size_bytes(tensors)};
  NewDirectory directory(to, std::move(may_replace));
  NamedSource source(weights, names);
  SafetensorsWriter writer(directory.path(), tensors);
  WorkProgress progress({"export", "bytes", exported.bytes});
  copy_tensors(source, writer, [&](TensorEntry const& tensor, ValueCounts const& counts) {
    require_exportable(place, tensor, counts);
    exported.become_zero += counts.become_zero;
    progress.add(element_count(tensor) * size_bytes(tensor.type));
  });
  progress.clear();
  writer.finish();
  write_file(directory.path() / kConfigFile, config_text, Durable::yes, origin.config.mode);
  for (auto const& file : origin.files)
    write_file(directory.path() / file.name, file.text, Durable::yes, file.mode);
  directory.publish();
  return exported;
}

}  // namespace spillway
