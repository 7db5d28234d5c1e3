#include "huggingface/tensor_types.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.hpp"
#include "huggingface/json_object.hpp"
#include "io/tensors/convert.hpp"

namespace spillway {
namespace {

ElementType type_of(Json const& word) {
  auto const type = element_type(word.get<std::string>());
  if (!type || !is_float(*type)) throw Json::other_error::create(501, "no type of floats", &word);
  return *type;
}

}  // namespace

ElementType TensorTypes::of(std::string const& tensor) const {
  auto const found = exceptions.find(tensor);
  return found == exceptions.end() ? usual : found->second;
}

TensorTypes types_of(TensorList const& tensors) {
  std::map<ElementType, std::int64_t> elements;
  for (auto const& tensor : tensors) elements[tensor.type] += element_count(tensor);
  TensorTypes types;
  auto const most =
      std::ranges::max_element(elements, {}, [](auto const& counted) { return counted.second; });
  if (most != elements.end()) types.usual = most->first;
  for (auto const& tensor : tensors)
    if (tensor.type != types.usual) types.exceptions.emplace(tensor.name, tensor.type);
  return types;
}

bool holds(ElementType wide, ElementType narrow) {
  if (wide == narrow || wide == ElementType::f64) return true;
  return wide == ElementType::f32 && narrow != ElementType::f64;
}

ElementType common_type(TensorList const& tensors) {
  std::optional<ElementType> common;
  for (auto const& tensor : tensors) {
    if (common && holds(*common, tensor.type)) continue;
    bool const is_wider = !common || holds(tensor.type, *common);
    common = is_wider ? tensor.type : ElementType::f32;
  }
  return common.value_or(ElementType::f32);
}

std::string to_json(TensorTypes const& types) {
  Json exceptions = Json::object();
  for (auto const& [tensor, type] : types.exceptions) exceptions[tensor] = name(type);
  return Json{{"usual", name(types.usual)}, {"exceptions", exceptions}}.dump(2) + "\n";
}

TensorTypes types_from_json(std::string const& text, std::string const& source) {
  try {
    auto const json = Json::parse(text);
    TensorTypes types{type_of(json.at("usual")), {}};
    for (auto const& [tensor, type] : json.at("exceptions").items())
      types.exceptions.emplace(tensor, type_of(type));
    return types;
  } catch (Json::exception const&) {
    throw Error(Status::damaged, source + ": does not say what types the tensors have");
  }
}

}  // namespace spillway
