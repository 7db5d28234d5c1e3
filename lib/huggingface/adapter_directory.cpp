#include "huggingface/adapter_directory.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/error.hpp"
#include "base/one_line.hpp"
#include "huggingface/adapter_files.hpp"
#include "huggingface/json_object.hpp"
#include "huggingface/model_directory.hpp"
#include "io/file/inside.hpp"
#include "model/adapters.hpp"

namespace spillway {

namespace fs = std::filesystem;

namespace {

constexpr auto kBaseKey = "base_model_name_or_path";

// A Description reads keys of an adapter_config.json.
class Description {
 public:
  explicit Description(fs::path const& path)
      : m_place((path / kAdapterConfig).string()),
        m_json(parse_object(read_inside(path, kAdapterConfig, kMostConfigBytes), m_place)) {}

  [[noreturn]] void refuse(std::string const& key, std::string const& why) const {
    throw Error(Status::bad_input, fmt::format("{}: {}: {}", m_place, key, why));
  }

  // Throws unless the key has no value, or one that says nothing.
  void require_unused(char const* key) const {
    auto const found = m_json.find(key);
    if (found == m_json.end() || found->is_null() || *found == Json(false) || found->empty())
      return;
    if (std::string(key) == "bias" && *found == Json("none")) return;
    refuse(key, shown(*found) + " is not known here; plain LoRA of linear layers is");
  }

  // Throws if the adapters were made beside other weights than the base has.
  void require_untouched_base() const {
    constexpr auto key = "init_lora_weights";
    auto const found = m_json.find(key);
    if (found == m_json.end() || !found->is_string()) return;
    for (auto const* leaves_base : {"gaussian", "eva", "orthogonal"})
      if (*found == Json(leaves_base)) return;
    refuse(key, shown(*found) +
                    " may have changed the base's weights; let PEFT convert the adapters to plain "
                    "LoRA (path_initial_model_for_weight_conversion)");
  }

  // Returns what the key says, for people.
  std::string words(char const* key) const {
    auto const found = m_json.find(key);
    if (found == m_json.end()) return "not said";
    if (found->is_string()) return one_line(found->get<std::string>());
    if (!found->is_array()) return shown(*found);
    std::vector<std::string> parts;
    for (auto const& part : *found)
      parts.push_back(part.is_string() ? one_line(part.get<std::string>()) : shown(part));
    return fmt::format("{}", fmt::join(parts, ", "));
  }

  template <class T>
  T value(char const* key, bool (Json::*is_kind)() const noexcept, char const* kind) const {
    auto const found = m_json.find(key);
    if (found == m_json.end() || !((*found).*is_kind)()) refuse(key, fmt::format("is no {}", kind));
    return found->get<T>();
  }

 private:
  std::string m_place;
  Json m_json;
};

}  // namespace

bool is_adapter_directory(fs::path const& path) {
  std::error_code ignored;  // if this fails, reading the directory says why
  return fs::exists(path / kAdapterConfig, ignored) && !is_model_directory(path);
}

bool is_adapter_file(std::string const& name) {
  return name == kAdapterConfig || name == kAdapterWeights;
}

fs::path adapter_weights(fs::path const& path) {
  return path / kAdapterWeights;
}

AdapterDirectory::AdapterDirectory(fs::path const& path, BasePlaces const& places)
    : m_path(path), m_file(adapter_weights(path)) {
  read_config(places);
  name_tensors();
}

void AdapterDirectory::read_config(BasePlaces const& places) {
  Description const config(m_path);
  if (auto const type = config.value<std::string>("peft_type", &Json::is_string, "text");
      type != "LORA")
    config.refuse("peft_type", type + " is not known here; LORA is");
  for (auto const* key :
       {"use_dora", "use_rslora", "bias", "lora_bias", "rank_pattern", "alpha_pattern",
        "modules_to_save", "layer_replication", "megatron_config", "trainable_token_indices",
        "target_parameters", "alora_invocation_tokens", "use_qalora", "arrow_config",
        "loftq_config", "corda_config", "lora_ga_config"})
    config.require_unused(key);
  config.require_untouched_base();
  m_lora.rank = config.value<std::int64_t>("r", &Json::is_number_integer, "integer");
  m_lora.alpha = config.value<double>("lora_alpha", &Json::is_number, "number");
  m_lora.dropout = config.value<double>("lora_dropout", &Json::is_number, "number");
  if (m_lora.rank < 1 || !(m_lora.alpha > 0)) config.refuse("r", "rank and alpha must be above 0");
  m_named_base = config.value<std::string>(kBaseKey, &Json::is_string, "text");
  auto const bases = places.in_order({m_named_base, (m_path / m_named_base).string()});
  auto const found = std::ranges::find_if(bases, is_model_directory);
  if (found == bases.end())
    config.refuse(kBaseKey,
                  fmt::format("{}; write there where it is, or say it: --base DIR, for train and "
                              "plan model.import=DIR beside run.init={} and its model.lora",
                              not_a_model(bases.front()), m_path.string()));
  m_base = *found;
  m_is_beside_start = places.given.empty() && found - bases.begin() >= 2;
}

void AdapterDirectory::name_tensors() {
  std::vector<TensorEntry> entries;
  std::set<std::string> layers;
  for (auto entry : m_file.tensors()) {
    auto const file_name = entry.name;
    if (entry.name.starts_with(kAdapterPrefix))
      entry.name.erase(0, std::string_view(kAdapterPrefix).size());
    auto const layer = adapted_layer(entry.name);
    if (!layer)
      throw Error(Status::bad_input,
                  fmt::format("{}: {}: is no part of an adapter of a linear layer", m_file.place(),
                              file_name));
    layers.insert(*layer);
    entries.push_back(std::move(entry));
  }
  m_tensors = TensorList(std::move(entries));
  for (auto const& layer : layers)
    for (auto const& half : {adapter_a(layer), adapter_b(layer)})
      if (!m_tensors.find(half))
        throw Error(Status::bad_input, fmt::format("{}: has no {}", m_file.place(), half));
  m_lora.targets.assign(layers.begin(), layers.end());
}

Config adapted_config(AdapterDirectory const& adapters, ModelDirectory const& base) {
  auto config = base.config();
  config.model.lora = adapters.lora();
  std::vector<std::string> modules;
  for (auto const& entry : base.tensors()) modules.push_back(module_of(entry.name));
  config.model.lora.targets = shortest_targets(config.model.lora.targets, modules);
  config.run.init = adapters.place();
  return config;
}

std::string describe_adapters(fs::path const& path) {
  Description const config(path);
  auto text = fmt::format("adapters {} (PEFT)\n", path.string());
  for (auto const& [word, key] :
       {std::pair("rank", "r"), std::pair("alpha", "lora_alpha"),
        std::pair("dropout", "lora_dropout"), std::pair("targets", "target_modules"),
        std::pair("base", kBaseKey)})
    text += fmt::format("  {:<11} {}\n", word, config.words(key));
  return text;
}

}  // namespace spillway
