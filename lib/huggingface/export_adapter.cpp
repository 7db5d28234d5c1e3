#include "huggingface/export_adapter.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "huggingface/adapter_files.hpp"
#include "huggingface/json_object.hpp"
#include "huggingface/match_tensors.hpp"
#include "huggingface/named_source.hpp"
#include "io/file/new_directory.hpp"
#include "io/file/output_file.hpp"
#include "io/safetensors/weight_index.hpp"
#include "io/safetensors/writer.hpp"
#include "io/tensors/copy_tensors.hpp"
#include "io/tensors/finite.hpp"
#include "model/adapters.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;

using Layers = std::vector<std::string>;

Layers target_modules(Layers const& layers, ModelConfig model) {
  model.lora = {};
  Layers modules;
  for (auto const& parameter : parameters_of(model)) modules.push_back(module_of(parameter.name));
  return shortest_targets(layers, modules);
}

// Returns the word by which PEFT knows what the model is for; an encoder alone has none.
Json task_of(Family family) {
  if (family == Family::bert) return nullptr;
  return family == Family::t5 ? "SEQ_2_SEQ_LM" : "CAUSAL_LM";
}

// PEFT writes whole numbers without a point.
Json as_number(double value) {
  auto const whole = static_cast<std::int64_t>(value);
  return static_cast<double>(whole) == value ? Json(whole) : Json(value);
}

std::string adapter_config(Layers const& layers, ModelConfig const& model,
                           std::string const& base) {
  auto const& lora = model.lora;
  Json const json = {{"peft_type", "LORA"},
                     {"task_type", task_of(model.family)},
                     {"base_model_name_or_path", base},
                     {"r", lora.rank},
                     {"lora_alpha", as_number(lora.alpha)},
                     {"lora_dropout", lora.dropout},
                     {"target_modules", target_modules(layers, model)},
                     {"fan_in_fan_out", model.family == Family::gpt},
                     {"bias", "none"},
                     {"inference_mode", true},
                     {"use_dora", false},
                     {"use_rslora", false}};
  return json.dump(2) + "\n";
}

}  // namespace

ExportedModel export_adapter(TensorSource& weights, ModelConfig const& model,
                             std::string const& base, std::optional<ElementType> type,
                             fs::path const& to, NewDirectory::MayReplace may_replace,
                             CarriedFiles const& own) {
  std::vector<NamedTensor> names;
  std::vector<TensorEntry> entries;
  Layers layers;
  for (std::size_t i = 0; i < weights.tensors().size(); ++i) {
    auto const& entry = weights.tensors()[i];
    auto const layer = adapted_layer(entry.name);
    if (!layer) continue;
    if (std::ranges::count(layers, *layer) == 0) layers.push_back(*layer);
    names.push_back({kAdapterPrefix + entry.name, i});
    entries.push_back({names.back().name, type.value_or(ElementType::f32), entry.shape});
  }
  TensorList const tensors(std::move(entries));
  ExportedModel exported{tensors.size(), size_bytes(tensors)};
  NewDirectory directory(to, std::move(may_replace));
  NamedSource source(weights, names);
  // PEFT reads one file, however large.
  SafetensorsWriter writer(directory.path(), tensors, std::numeric_limits<std::int64_t>::max());
  copy_tensors(source, writer, [&](TensorEntry const& tensor, ValueCounts const& counts) {
    require_exportable(weights.place(), tensor, counts);
    exported.become_zero += counts.become_zero;
  });
  writer.finish();
  fs::rename(directory.path() / kWeightFile, directory.path() / kAdapterWeights);
  write_file(directory.path() / kAdapterConfig, adapter_config(layers, model, base), Durable::yes,
             kFileMode);
  for (auto const& file : own)
    write_file(directory.path() / file.name, file.text, Durable::yes, file.mode);
  directory.publish();
  return exported;
}

}  // namespace spillway
