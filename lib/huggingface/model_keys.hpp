// The keys of a model by their names, set from JSON and written as JSON; only for this folder's
// sources.
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

// Names are those of lib/config/keys.hpp ("model.hidden"), whose types and bounds count. What is
// wrong throws Error(bad_input) that names `place` and the key of config.json.
class ModelKeys {
 public:
  ModelKeys(ModelConfig model, std::string place);
  ModelKeys(ModelKeys const&) = delete;
  ModelKeys& operator=(ModelKeys const&) = delete;

  ModelConfig const& model() const { return m_config.model; }

  // `theirs` is the key of config.json that has `value`. A value that stands for `auto` or `none`
  // in our files is none that a model could have: it is refused.
  void set(std::string_view ours, std::string_view theirs, Json const& value);
  // One of our words, for a key that has words.
  void set_word(std::string_view ours, std::string_view theirs, std::string const& word);
  // Where 0 stands for `auto` or `none`.
  void set_or_unset(std::string_view ours, std::string_view theirs, std::int64_t number);

  Json get(std::string_view ours) const;  // null: unset

  // Relations between keys, as in an input file.
  void check() const;

  [[noreturn]] void fail(std::string_view theirs, std::string const& problem) const;
  // Of a key that must be true or false; null counts as false.
  bool flag(Json const& file, std::string_view theirs, bool fallback) const;

 private:
  Key const& key(std::string_view ours) const;
  void read(Key const& key, std::string_view theirs, Value const& value);

  Config m_config;
  Origins m_origins;
  std::string m_place;
  std::vector<Key> m_keys;  // of m_config
};

// The value of a key that is there, and null where it is not.
Json value_of(Json const& object, std::string_view key);

}  // namespace spillway
