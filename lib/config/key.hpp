// A Key describes one key of input files. It is a row of the table in keys.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/field.hpp"
#include "config/place.hpp"
#include "config/value.hpp"

namespace spillway {

// A Scope says what a key decides: the model, which must be the same as that of a checkpoint that
// is loaded; only the job, that is, where and for how long it works, which changes no result; or
// the run, which is everything else.
enum class Scope : std::uint8_t { model, run, job };

struct Key {
  std::string_view name;  // for example "model.heads"
  Field field;            // points into the Config for which the table was made
  std::string_view word;  // what stands for "not set": "auto" or "none"; empty if always set
  std::string_view unit;  // the unit of the number; empty if it has none
  std::string_view doc;   // what the key means, in one line
  Scope scope = Scope::run;
  std::vector<Family> families = {};  // the families of models that have the key; empty means all
  std::vector<Optimizer> optimizers = {};  // the optimizers that have the key; empty means all

  bool is_of(Family family) const;
  bool is_of(Optimizer optimizer) const;
  bool is_of(Config const& config) const;    // whether its model and its optimizer have the key
  bool is_in(std::string_view group) const;  // whether it is the key of this name, or in this group
  std::string family_words() const;          // returns text such as "llama, t5"
  std::string optimizer_words() const;
};

// Reads `value` into the key's field. Throws Error(bad_input), which names `place`, if the key does
// not take the value.
void read_key(Key const& key, Value const& value, Place const& place);

// Returns the field's value as YAML on one line. read_key reads it back to the same value.
std::string write_key(Key const& key);

// Returns whether the key may be `word`, such as "auto" or "none", instead of a value.
bool takes_word(Key const& key, std::string_view word);

// Returns the key's type, bounds and word, such as "integer, 1 to 100000; or auto".
std::string form_of(Key const& key);

}  // namespace spillway
