#include "tests/support/schema_page.hpp"

#include <fmt/format.h>

#include <map>
#include <sstream>
#include <stdexcept>

namespace spillway::test {
namespace {

constexpr auto kHead =
    "| field | type | unit | meaning | only if |\n| --- | --- | --- | --- | --- |\n";

std::string text(OrderedJson const& schema, char const* word) {
  return schema.value(word, std::string());
}

// Returns the text in lines of at most 100 columns.
std::string paragraph(std::string const& text) {
  constexpr std::size_t most_columns = 100;
  std::string lines;
  std::size_t columns = 0;
  std::istringstream words(text);
  for (std::string word; words >> word; columns += word.size()) {
    bool const fits = columns + 1 + word.size() <= most_columns;
    if (!lines.empty()) lines += fits ? " " : "\n";
    columns = fits && !lines.empty() ? columns + 1 : 0;
    lines += word;
  }
  return lines + "\n";
}

std::string type_of(OrderedJson const& schema) {
  if (schema.contains("$ref")) {
    auto const name = schema.at("$ref").get<std::string>();
    return fmt::format("[{0}](#{0})", name.substr(name.rfind('/') + 1));
  }
  if (schema.contains("keys")) return "map by " + text(schema, "keys");
  auto const& type = schema.at("type");
  if (type.is_string()) return type == "array" ? "list" : type.get<std::string>();
  std::string words;
  for (auto const& one : type) words += (words.empty() ? "" : " or ") + one.get<std::string>();
  return words;
}

std::string row(std::string const& field, OrderedJson const& schema) {
  return fmt::format("| `{}` | {} | {} | {} | {} |\n", field, type_of(schema), text(schema, "unit"),
                     text(schema, "description"), text(schema, "when"));
}

std::string rows(std::string const& field, OrderedJson const& schema);

std::string rows_of_properties(std::string const& field, OrderedJson const& schema) {
  std::string result;
  for (auto const& [name, property] : schema.at("properties").items())
    result += rows(field.empty() ? name : field + "." + name, property);
  return result;
}

std::string rows(std::string const& field, OrderedJson const& schema) {
  std::string result = schema.contains("description") ? row(field, schema) : "";
  if (schema.contains("keys"))
    return result +
           rows(field + ".<" + text(schema, "keys") + ">", schema.at("additionalProperties"));
  if (schema.contains("properties")) return result + rows_of_properties(field, schema);
  if (schema.contains("items")) return result + rows(field + "[]", schema.at("items"));
  return result;
}

// A part that is a map has no fields of its own but those of its values.
std::string table_of(OrderedJson const& schema) {
  if (schema.contains("keys"))
    return kHead + rows("<" + text(schema, "keys") + ">", schema.at("additionalProperties"));
  return kHead + rows_of_properties("", schema);
}

}  // namespace

std::string schema_section(OrderedJson const& schema) {
  auto section =
      fmt::format("## {}\n\n{}", text(schema, "title"), paragraph(text(schema, "description")));
  if (!schema.contains("anyOf")) return section + "\n" + table_of(schema);
  for (auto const& branch : schema.at("anyOf"))
    section += fmt::format(
        "\n### {}\n\n{}{}", text(branch, "title"),
        branch.contains("description") ? paragraph(text(branch, "description")) + "\n" : "",
        table_of(branch));
  return section;
}

std::string parts_section(std::span<OrderedJson const* const> schemas) {
  std::map<std::string, OrderedJson> parts;
  for (auto const* schema : schemas) {
    auto const own = schema->value("$defs", OrderedJson::object());
    for (auto const& [name, part] : own.items())
      if (auto const [at, is_new] = parts.emplace(name, part); !is_new && at->second != part)
        throw std::logic_error(text(*schema, "title") + ": another `" + name + "`");
  }
  std::string section = "## Parts of these\n";
  for (auto const& [name, part] : parts)
    section += fmt::format("\n### {}\n\n{}", name, table_of(part));
  return section;
}

}  // namespace spillway::test
