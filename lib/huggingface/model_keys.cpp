#include "huggingface/model_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <variant>

#include "config/check.hpp"
#include "config/keys.hpp"
#include "config/place.hpp"

namespace spillway {
namespace {

// Texts keep their quotes, so that "64" is not read as a number.
Value as_value(Json const& json) {
  using Kind = Value::Kind;
  Value value;
  if (json.is_null()) return value;
  value.kind = json.is_array() ? Kind::list : json.is_object() ? Kind::map : Kind::scalar;
  if (value.kind == Kind::scalar) value.text = shown(json);
  return value;
}

Value as_scalar(std::string text) {
  Value value;
  value.kind = Value::Kind::scalar;
  value.text = std::move(text);
  return value;
}

bool is_unset(Key const& key) {
  return !key.word.empty() && write_key(key) == key.word;
}

}  // namespace

ModelKeys::ModelKeys(ModelConfig model, std::string place)
    : m_place(std::move(place)), m_keys(keys_of(m_config)) {
  m_config.model = std::move(model);
}

Key const& ModelKeys::key(std::string_view ours) const {
  auto const found = std::ranges::find(m_keys, ours, &Key::name);
  if (found == m_keys.end()) throw std::logic_error(fmt::format("no key is called {}", ours));
  return *found;
}

void ModelKeys::read(Key const& key, std::string_view theirs, Value const& value) {
  Place const place{m_place, std::string(theirs)};
  read_key(key, value, place);
  m_origins[std::string(key.name)] = place.text();
}

void ModelKeys::set(std::string_view ours, std::string_view theirs, Json const& value) {
  auto const& known = key(ours);
  read(known, theirs, as_value(value));
  if (is_unset(known)) fail(theirs, "must be more than 0");
}

void ModelKeys::set_word(std::string_view ours, std::string_view theirs, std::string_view word) {
  read(key(ours), theirs, as_scalar(std::string(word)));
}

void ModelKeys::set_or_unset(std::string_view ours, std::string_view theirs, std::int64_t number) {
  read(key(ours), theirs, as_scalar(std::to_string(number)));
}

Json ModelKeys::get(std::string_view ours) const {
  auto const& known = key(ours);
  if (is_unset(known)) return nullptr;
  auto const text = write_key(known);
  if (std::holds_alternative<ChoiceField>(known.field)) return text;
  auto const value = Json::parse(text);
  // transformers 5 refuses a whole number where it expects a real one.
  return std::holds_alternative<RealField>(known.field) ? Json(value.get<double>()) : value;
}

void ModelKeys::check() const {
  spillway::check(m_config, m_origins, ForMachine::other);
}

void ModelKeys::fail(std::string_view theirs, std::string const& problem) const {
  refuse({m_place, std::string(theirs)}, problem);
}

bool ModelKeys::flag(Json const& file, std::string_view theirs, bool fallback) const {
  auto const found = file.find(theirs);
  if (found == file.end()) return fallback;
  if (found->is_null()) return false;
  if (!found->is_boolean())
    fail(theirs, fmt::format("expected true or false, got {}", shown(*found)));
  return found->get<bool>();
}

Json value_of(Json const& object, std::string_view key) {
  auto const found = object.find(key);
  return found == object.end() ? Json() : *found;
}

}  // namespace spillway
