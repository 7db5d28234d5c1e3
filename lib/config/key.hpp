// A Key is one row of the table of keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/field.hpp"
#include "config/place.hpp"
#include "config/value.hpp"

namespace spillway {

// A Scope says what a key decides: the model, which must be the same to use a checkpoint; the run;
// or only the job, that is, where and for how long it works, which changes no result.
enum class Scope : std::uint8_t { model, run, job };

struct Key {
  std::string_view name;  // for example "model.heads"
  Field field;            // points into the Config the table was made for
  std::string_view word;  // what stands for "not set": "auto", "none", or empty if it is always set
  std::string_view unit;  // the unit of the number, or empty
  std::string_view doc;   // what the key means, in one line
  Scope scope = Scope::run;
  std::vector<Family> families = {};  // the families of models that have the key; empty means all

  bool is_of(Family family) const;
  std::string family_words() const;  // returns text such as "llama, t5"
};

// Reads `value` into the key's field, or refuses it.
void read_key(Key const& key, Value const& value, Place const& place);

// Returns the field's value as YAML on one line. read_key reads it back to the same value.
std::string write_key(Key const& key);

// Returns whether the key may be this word ("auto", "none") instead of a value.
bool takes_word(Key const& key, std::string_view word);

// Returns the key's type, bounds and word, such as "integer, 1 to 100000; or auto".
std::string form_of(Key const& key);

}  // namespace spillway
