// Sets the keys of a model from JSON and returns them as JSON; only for this folder's sources.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/assign.hpp"
#include "config/config.hpp"
#include "config/key.hpp"
#include "huggingface/json_object.hpp"

namespace spillway {

// A ModelKeys has the keys of one model. Their names, types and bounds are those of
// lib/config/keys.hpp ("model.hidden"). If a value is wrong, its functions throw Error(bad_input)
// that names `place` and the key of config.json.
class ModelKeys {
 public:
  ModelKeys(ModelConfig model, std::string place);
  ModelKeys(ModelKeys const&) = delete;
  ModelKeys& operator=(ModelKeys const&) = delete;

  ModelConfig const& model() const { return m_config.model; }

  // Sets a key of ours to `value`, which config.json has under the key `theirs`. Refuses a value
  // that means `auto` or `none` in our files, because no model has it.
  void set(std::string_view ours, std::string_view theirs, Json const& value);
  // Sets a key of ours whose values are words, such as model.activation, to one of these words.
  void set_word(std::string_view ours, std::string_view theirs, std::string_view word);
  // Sets a key of ours to a number, or unsets it (`auto` or `none`) if the number is 0.
  void set_or_unset(std::string_view ours, std::string_view theirs, std::int64_t number);

  Json get(std::string_view ours) const;  // null if the key is unset

  // Checks whether the keys fit together, by the rules for input files.
  void check() const;

  [[noreturn]] void fail(std::string_view theirs, std::string const& problem) const;
  // Returns a key that must be true or false, or `fallback` if it is absent; null means false.
  bool flag(Json const& file, std::string_view theirs, bool fallback) const;

 private:
  Key const& key(std::string_view ours) const;
  void read(Key const& key, std::string_view theirs, Value const& value);

  Config m_config;
  Origins m_origins;
  std::string m_place;
  std::vector<Key> m_keys;  // their fields point into m_config
};

// Returns the value of a key, or null if the object does not have the key.
Json value_of(Json const& object, std::string_view key);

}  // namespace spillway
