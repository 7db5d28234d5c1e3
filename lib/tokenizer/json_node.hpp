// A JsonNode is a value in a JSON file that knows its place, so that what is wrong with it is said
// with file and key; only for this folder's sources.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace spillway {

class JsonNode {
 public:
  // `value` must outlive the node. `place` is what errors begin with, such as "tokenizer.json".
  // Throws Error(bad_input) if the value is so deep in the file that no stack may follow it.
  JsonNode(nlohmann::json const& value, std::string place, int depth = 0);

  nlohmann::json const& value() const { return *m_value; }
  std::string const& place() const { return m_place; }
  // Throws Error(bad_input) that begins with the node's place.
  [[noreturn]] void refuse(std::string const& why) const;

  // Returns whether the object has the key, with another value than null.
  bool has(char const* key) const;
  // Returns the value of a key. Throws Error(bad_input) if it is missing or null.
  JsonNode at(char const* key) const;
  std::vector<JsonNode> elements() const;  // of an array; throws Error(bad_input) for other values

  // These return the value of a key. Throw Error(bad_input) if it is of another type, or missing
  // and there is no default.
  std::string text(char const* key) const;
  std::string text(char const* key, std::string_view fallback) const;
  bool flag(char const* key, bool fallback) const;
  std::int64_t integer(char const* key) const;
  // Returns an id of a token: a number in [0, 2^31 - 1).
  std::int32_t id(char const* key) const;
  std::int32_t as_id() const;
  std::string as_text() const;

 private:
  nlohmann::json const* m_value;
  std::string m_place;
  int m_depth;  // how many keys and numbers lead to it
};

}  // namespace spillway
