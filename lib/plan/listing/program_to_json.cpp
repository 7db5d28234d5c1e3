#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "plan/listing/listing.hpp"
#include "plan/listing/program_fields.hpp"

namespace spillway {

namespace {

using OrderedJson = nlohmann::ordered_json;

template <class T>
OrderedJson json_of(T const& value) {
  if constexpr (std::is_enum_v<T>) {
    return kWords<T>.at(static_cast<std::size_t>(value));
  } else if constexpr (std::is_arithmetic_v<T> || std::same_as<T, std::string>) {
    return value;
  } else if constexpr (std::same_as<T, Attributes>) {
    auto const kind = [](auto const& any) { return json_of(any); };
    return {{kAttributeNames[value.index()], std::visit(kind, value)}};
  } else if constexpr (List<T>) {
    auto json = OrderedJson::array();
    for (auto const& one : value) json.push_back(json_of(one));
    return json;
  } else {
    auto json = OrderedJson::object();
    visit_fields(value,
                 [&](auto key, auto const& part) { json[std::string(key)] = json_of(part); });
    return json;
  }
}

// Returns the JSON of a list with a line for each element, and of any other value on one line.
template <class T>
std::string lines_of(T const& value) {
  return json_of(value).dump();
}
template <List T>
std::string lines_of(T const& values) {
  std::string text = "[";
  for (auto const& value : values)
    text += (text.size() > 1 ? ",\n  " : "\n  ") + json_of(value).dump();
  return text + "\n ]";
}

}  // namespace

std::string to_json(Program const& program) {
  auto text = fmt::format("{{\n \"{}\": {}", kFormKey, kForm);
  visit_fields(program, [&](std::string_view key, auto const& value) {
    text += fmt::format(",\n \"{}\": {}", key, lines_of(value));
  });
  return text + "\n}\n";
}

}  // namespace spillway
