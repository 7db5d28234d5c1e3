#include "huggingface/description.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "config/place.hpp"
#include "huggingface/json_object.hpp"
#include "huggingface/key_group.hpp"
#include "huggingface/left_out.hpp"
#include "huggingface/model_keys.hpp"
#include "huggingface/offered.hpp"

namespace spillway {
namespace {

constexpr char const* kTypeKey = "model_type";

Architecture read_class(Json const& file, std::string const& place) {
  constexpr auto key = "architectures";
  auto const names = value_of(file, key);
  if (!names.is_array() || names.empty() || !names.front().is_string())
    refuse({place, key}, fmt::format("expected a list with the model's class, got {}",
                                     names.is_array() ? "another list" : shown(names)));
  auto const& name = names.front().get_ref<std::string const&>();
  if (auto const found = architecture_named(name)) return *found;
  refuse({place, key},
         fmt::format("{} {}", shown_key(name), not_offered(kArchitectures, class_name)));
}

// Transformers' AutoModel chooses the class by model_type, and makes a Ministral of a Mistral with
// layer_types.
Architecture read_architecture(Json const& file, std::string const& place) {
  auto const named = read_class(file, place);
  auto const type = value_of(file, kTypeKey);
  auto const meant = named == Architecture::mistral && (file.contains("layer_types") ||
                                                        type == model_type(Architecture::ministral))
                         ? Architecture::ministral
                         : named;
  if (!type.is_null() && type != model_type(named) && type != model_type(meant))
    refuse({place, kTypeKey}, fmt::format("{} is another model than {}, which is {}", shown(type),
                                          class_name(named), model_type(named)));
  return meant;
}

bool is_read(std::string_view key, std::vector<KeyGroup> const& groups) {
  return std::ranges::any_of(
      groups, [&](KeyGroup const& group) { return std::ranges::count(group.names, key) > 0; });
}

void require_known_keys(Json const& file, Architecture architecture,
                        std::vector<KeyGroup> const& groups, std::string const& place) {
  for (auto const& [key, value] : file.items()) {
    if (key == kTypeKey || is_read(key, groups) || is_left_out(file, key, architecture)) continue;
    refuse({place, shown_key(key)},
           fmt::format("{} is not known for {} and may change what is computed", shown(value),
                       class_name(architecture)));
  }
}

Json parse_config_file(std::string const& json, std::string const& place) {
  if (std::ssize(json) > kMostConfigBytes)
    refuse({place, ""}, fmt::format("is larger than {} bytes", kMostConfigBytes));
  return parse_object(json, place);
}

ModelDescription described(Json const& file, std::string const& place) {
  auto const architecture = read_architecture(file, place);
  auto const groups = key_groups_of(architecture);
  require_known_keys(file, architecture, groups, place);
  ModelKeys keys(model_of(architecture), place);
  for (auto const& group : groups) group.read(file, keys);
  keys.check();
  return {architecture, keys.model()};
}

struct DtypeName {
  ElementType type;
  char const* name;
};
constexpr DtypeName kDtypes[] = {{ElementType::f32, "float32"},
                                 {ElementType::bf16, "bfloat16"},
                                 {ElementType::f16, "float16"},
                                 {ElementType::f64, "float64"}};

char const* dtype_name(ElementType type) {
  auto const found = std::ranges::find(kDtypes, type, &DtypeName::type);
  if (found != std::end(kDtypes)) return found->name;
  throw std::logic_error(fmt::format("no weights are saved in {}", name(type)));
}

// transformers 4 and 5 both read torch_dtype, so it is written unless the file has dtype.
void set_dtype(Json& file, ElementType type) {
  for (auto const* const key : {"dtype", "torch_dtype"})
    if (file.contains(key)) file[key] = dtype_name(type);
  if (!file.contains("dtype")) file["torch_dtype"] = dtype_name(type);
}

// Special ids are those of `data`, even if null, because transformers' defaults are other tokens.
Json new_file(ModelDescription const& description, DataConfig const& data) {
  auto const or_null = [](auto const& id) { return id ? Json(*id) : Json(); };
  auto const& [architecture, model] = description;
  Json file = {{"architectures", {class_name(architecture)}},
               {"model_type", model_type(architecture)},
               {"bos_token_id", nullptr},
               {"eos_token_id", or_null(data.eos_id)},
               {"pad_token_id", or_null(data.pad_id)}};
  if (architecture == Architecture::t5) file["decoder_start_token_id"] = file["pad_token_id"];
  if (model.family == Family::llama) file["max_position_embeddings"] = data.sequence;
  return file;
}

// Throws std::logic_error if the file describes another model. That would be a mistake in a
// KeyGroup, which nobody would notice otherwise.
void require_same(ModelKeys const& model, Json const& file, std::vector<KeyGroup> const& groups) {
  ModelKeys const written(described(file, "the config.json to be written").model, "");
  for (auto const& group : groups)
    if (group.write(written) != group.write(model))
      throw std::logic_error(fmt::format("config.json says another {}", group.names.front()));
}

}  // namespace

ModelDescription describe_model(std::string const& json, std::string const& place) {
  return described(parse_config_file(json, place), place);
}

std::optional<ElementType> said_type(std::string const& json, std::string const& place) {
  auto const file = parse_config_file(json, place);
  auto const newer = value_of(file, "dtype");
  auto const said = newer.is_null() ? value_of(file, "torch_dtype") : newer;
  for (auto const& [type, word] : kDtypes)
    if (said == word) return type;
  return std::nullopt;
}

std::string config_json(ModelDescription const& description, ElementType type,
                        std::string const& original, DataConfig const& data) {
  std::string const place = "the config.json that the model was imported from";
  ModelKeys const now(description.model, "");
  auto const groups = key_groups_of(description.architecture);
  Json file;
  if (original.empty()) {
    file = new_file(description, data);
    for (auto const& group : groups) file.update(group.write(now));
  } else {
    file = parse_config_file(original, place);
    ModelKeys const before(described(file, place).model, "");
    for (auto const& group : groups) {
      auto const written = group.write(now);
      if (written == group.write(before)) continue;
      for (auto const name : group.names) file.erase(name);
      file.update(written);
    }
  }
  set_dtype(file, type);
  require_same(now, file, groups);
  return file.dump(2) + "\n";
}

}  // namespace spillway
