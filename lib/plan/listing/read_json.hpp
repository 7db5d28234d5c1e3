// JSON -> values of a Program, or a line that names the key. Only for this folder's sources.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "plan/listing/program_fields.hpp"
#include "plan/listing/spelling.hpp"

namespace spillway {

using Json = nlohmann::ordered_json;

// Where a value stands, as in "program.json: items[41].lane".
struct JsonPlace {
  std::string_view name;                         // of the file, or of a key
  JsonPlace const* within = nullptr;             // the file is within nothing
  std::size_t element = std::string_view::npos;  // of a list, instead of a name

  std::string text() const;
  // Throws Error(bad_input).
  [[noreturn]] void fail(std::string const& why) const;
};

// What a text or number says. A whole number is -1, which stands for none, or from 0 to `most`.
void read_json(Json const& json, JsonPlace const& at, bool& value);
void read_json(Json const& json, JsonPlace const& at, double& value);
void read_json(Json const& json, JsonPlace const& at, std::string& value);
void read_json(Json const& json, JsonPlace const& at, std::int64_t& value);
void read_json(Json const& json, JsonPlace const& at, std::int32_t& value);
void read_json(Json const& json, JsonPlace const& at, std::uint64_t& value);
// The number of the text among `words`.
std::size_t word_of(Json const& json, JsonPlace const& at,
                    std::vector<std::string_view> const& words);
// The value of a key that must be there; refuses what is no object.
Json const& value_of(Json const& json, JsonPlace const& at, std::string_view key);
// Refuses what is no list, and an object with other keys.
void require_list(Json const& json, JsonPlace const& at);
void require_keys(Json const& json, JsonPlace const& at, std::vector<std::string_view> const& keys);

void read_json(Json const& json, JsonPlace const& at, TierBytes& bytes);
void read_json(Json const& json, JsonPlace const& at, Attributes& attributes);

template <class E>
requires std::is_enum_v<E>
void read_json(Json const& json, JsonPlace const& at, E& value) {
  static std::vector<std::string_view> const words = [] {
    std::vector<std::string_view> all;
    for (std::size_t i = 0; i < kValues<E>; ++i) all.push_back(spelled(static_cast<E>(i)));
    return all;
  }();
  value = static_cast<E>(word_of(json, at, words));
}

template <List T>
void read_json(Json const& json, JsonPlace const& at, T& values);

template <class T>
requires(std::is_class_v<T> && !List<T>) void read_json(Json const& json, JsonPlace const& at,
                                                        T& value) {
  std::vector<std::string_view> keys;
  visit_fields(value, [&](std::string_view key, auto& part) {
    read_json(value_of(json, at, key), JsonPlace{key, &at}, part);
    keys.push_back(key);
  });
  require_keys(json, at, keys);
}

template <List T>
void read_json(Json const& json, JsonPlace const& at, T& values) {
  require_list(json, at);
  values.resize(json.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    read_json(json[i], JsonPlace{"", &at, i}, values[i]);
}

}  // namespace spillway
