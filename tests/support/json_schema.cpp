#include "tests/support/json_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <functional>
#include <stdexcept>

namespace spillway::test {
namespace {

bool is_checked(std::string const& word) {
  static std::set<std::string> const words = {
      "$schema", "$id",         "$defs",    "$ref",
      "title",   "description", "unit",     "when",
      "keys",    "anyOf",       "type",     "enum",
      "const",   "properties",  "required", "additionalProperties",
      "items"};
  return words.contains(word);
}

bool has_type(OrderedJson const& value, std::string const& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "null") return value.is_null();
  if (type == "integer")  // JSON Schema counts 3.0 as one
    return value.is_number() && value.get<double>() == std::floor(value.get<double>());
  if (type == "number") return value.is_number();
  throw std::logic_error("no type of JSON Schema: " + type);
}

bool has_one_of(OrderedJson const& value, OrderedJson const& types) {
  if (types.is_string()) return has_type(value, types.get<std::string>());
  return std::ranges::any_of(
      types, [&](OrderedJson const& type) { return has_type(value, type.get<std::string>()); });
}

std::string inside(std::string const& where, std::string const& name) {
  return where.empty() ? name : where + "." + name;
}

// Calls visit(schema, name) for every property, however deep; `name` is as "spill.backend".
void visit_properties(OrderedJson const& schema, std::string const& where,
                      std::function<void(OrderedJson const&, std::string const&)> const& visit) {
  for (auto const& [word, part] : schema.items()) {
    if (!is_checked(word)) throw std::logic_error(where + ": a word that is not checked: " + word);
    if (word == "properties" || word == "$defs") {
      for (auto const& [name, property] : part.items()) {
        if (word == "properties") visit(property, inside(where, name));
        visit_properties(property, inside(where, name), visit);
      }
    } else if (word == "anyOf") {
      for (auto const& branch : part) visit_properties(branch, where, visit);
    } else if (word == "items" || (word == "additionalProperties" && part.is_object())) {
      visit_properties(part, where + "[]", visit);
    }
  }
}

}  // namespace

JsonSchema::JsonSchema(std::filesystem::path path) : m_path(std::move(path)) {
  std::ifstream file(m_path);
  m_schema = OrderedJson::parse(file);
  visit_properties(m_schema, "", [](auto const&, auto const&) {});
}

std::vector<std::string> JsonSchema::faults(OrderedJson const& value) {
  auto outcome = check(m_schema, value, "");
  if (outcome.faults.empty()) m_seen.merge(outcome.seen);
  return outcome.faults;
}

std::vector<std::string> JsonSchema::unseen() const {
  std::vector<std::string> result;
  visit_properties(m_schema, "", [&](OrderedJson const& property, std::string const& name) {
    if (!m_seen.contains(&property) && !property.contains("when")) result.push_back(name);
  });
  return result;
}

OrderedJson const& JsonSchema::resolved(OrderedJson const& schema) const {
  auto const reference = schema.find("$ref");
  if (reference == schema.end()) return schema;
  return m_schema.at(OrderedJson::json_pointer(reference->get<std::string>().substr(1)));
}

void JsonSchema::Outcome::add(Outcome other) {
  faults.insert(faults.end(), other.faults.begin(), other.faults.end());
  seen.merge(other.seen);
}

JsonSchema::Outcome JsonSchema::check(OrderedJson const& given, OrderedJson const& value,
                                      std::string const& where) const {
  auto const& schema = resolved(given);
  auto const fault = [&](std::string const& what) {
    return Outcome{{fmt::format("{}: {} {}", m_schema.at("title").get<std::string>(),
                                where.empty() ? "it" : "`" + where + "`", what)},
                   {}};
  };
  if (schema.contains("anyOf")) {
    std::vector<Outcome> outcomes;
    for (auto const& branch : schema.at("anyOf")) outcomes.push_back(check(branch, value, where));
    return *std::ranges::min_element(outcomes, {},
                                     [](Outcome const& outcome) { return outcome.faults.size(); });
  }
  if (schema.contains("type") && !has_one_of(value, schema.at("type")))
    return fault("is no " + schema.at("type").dump() + ": " + value.dump().substr(0, 60));
  if (schema.contains("const") && value != schema.at("const"))
    return fault("is not " + schema.at("const").dump());
  if (schema.contains("enum") && std::ranges::count(schema.at("enum"), value) == 0)
    return fault("is none of " + schema.at("enum").dump() + ": " + value.dump());
  if (value.is_object()) return check_object(schema, value, where);
  Outcome outcome;
  if (value.is_array() && schema.contains("items"))
    for (auto const& one : value) outcome.add(check(schema.at("items"), one, where + "[]"));
  return outcome;
}

JsonSchema::Outcome JsonSchema::check_object(OrderedJson const& schema, OrderedJson const& value,
                                             std::string const& where) const {
  Outcome outcome;
  auto const properties = schema.value("properties", OrderedJson::object());
  for (auto const& [name, one] : value.items()) {
    if (properties.contains(name)) {
      auto const& property = schema.at("properties").at(name);
      outcome.seen.insert(&property);
      outcome.add(check(property, one, inside(where, name)));
    } else if (schema.contains("additionalProperties") &&
               schema.at("additionalProperties").is_object()) {
      outcome.add(check(schema.at("additionalProperties"), one, inside(where, name)));
    } else if (schema.contains("additionalProperties")) {
      outcome.faults.push_back(advice(inside(where, name)));
    }
  }
  for (auto const& name : schema.value("required", OrderedJson::array()))
    if (!value.contains(name.get<std::string>()))
      outcome.faults.push_back(fmt::format(
          "{}: `{}` is missing, which {} requires", m_schema.at("title").get<std::string>(),
          inside(where, name.get<std::string>()), m_path.filename().string()));
  return outcome;
}

std::string JsonSchema::advice(std::string const& field) const {
  return fmt::format(
      "{}: `{}` is not in docs/schemas/{}: write its type, unit and meaning there; then "
      "`SPILLWAY_WRITE_DOCS=1 build/bin/test_parity --file=output_schemas` writes docs/outputs.md",
      m_schema.at("title").get<std::string>(), field, m_path.filename().string());
}

}  // namespace spillway::test
