// One row of the table of keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/field.hpp"
#include "config/place.hpp"
#include "config/value.hpp"

namespace spillway {

// What becomes another one where a key has another value, from the narrowest on. Checkpoints fit no
// other model; a job is where and for how long one works, which changes nothing of the run.
enum class Scope : std::uint8_t { model, run, job };

struct Key {
  std::string_view name;  // "model.heads"
  Field field;            // points into the Config the table was made for
  std::string_view word;  // what stands for "not set": "auto", "none", or empty if it is always set
  std::string_view unit;  // of the number, or empty
  std::string_view doc;   // one line
  Scope scope = Scope::run;
  std::vector<std::string_view> families = {};  // which models have it; empty: all

  bool is_of(std::string_view family) const;
};

// Reads `value` into the key's field, or refuses it.
void read_key(Key const& key, Value const& value, Place const& place);

// The field's value as YAML on one line; read_key reads it back to the same.
std::string write_key(Key const& key);

// Whether the key may be this word instead of a value: "auto", "none".
bool takes_word(Key const& key, std::string_view word);

// Type, bounds and the word: "integer, 1 to 100000; or auto".
std::string form_of(Key const& key);

}  // namespace spillway
