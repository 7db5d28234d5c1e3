#include "tokenizer/json_node.hpp"

#include <fmt/core.h>

#include <limits>

#include "base/error.hpp"

namespace spillway {

JsonNode::JsonNode(nlohmann::json const& value, std::string place, int depth)
    : m_value(&value), m_place(std::move(place)), m_depth(depth) {
  constexpr int most_depth = 64;
  if (depth > most_depth) refuse("is nested too deeply");
}

void JsonNode::refuse(std::string const& why) const {
  throw Error(Status::bad_input, fmt::format("{}: {}", m_place, why));
}

bool JsonNode::has(char const* key) const {
  if (!m_value->is_object()) refuse("is no object");
  auto const found = m_value->find(key);
  return found != m_value->end() && !found->is_null();
}

JsonNode JsonNode::at(char const* key) const {
  if (!has(key)) refuse(fmt::format("has no `{}`", key));
  return {(*m_value)[key], fmt::format("{}: {}", m_place, key), m_depth + 1};
}

std::vector<JsonNode> JsonNode::elements() const {
  if (!m_value->is_array()) refuse("is no list");
  std::vector<JsonNode> nodes;
  for (auto const& one : *m_value)
    nodes.emplace_back(one, fmt::format("{}[{}]", m_place, nodes.size()), m_depth + 1);
  return nodes;
}

std::string JsonNode::as_text() const {
  if (!m_value->is_string()) refuse("is no text");
  return m_value->get<std::string>();
}

std::string JsonNode::text(char const* key) const {
  return at(key).as_text();
}

std::string JsonNode::text(char const* key, std::string_view fallback) const {
  return has(key) ? text(key) : std::string(fallback);
}

bool JsonNode::flag(char const* key, bool fallback) const {
  if (!has(key)) return fallback;
  auto const node = at(key);
  if (!node.value().is_boolean()) node.refuse("is neither true nor false");
  return node.value().get<bool>();
}

std::int64_t JsonNode::integer(char const* key) const {
  auto const node = at(key);
  if (!node.value().is_number_integer()) node.refuse("is no whole number");
  return node.value().get<std::int64_t>();
}

std::int32_t JsonNode::as_id() const {
  constexpr auto most = std::numeric_limits<std::int32_t>::max();
  bool const is_id = m_value->is_number_integer() && *m_value >= 0 && *m_value < most;
  if (!is_id) refuse("is no id of a token");
  return m_value->get<std::int32_t>();
}

std::int32_t JsonNode::id(char const* key) const {
  return at(key).as_id();
}

}  // namespace spillway
