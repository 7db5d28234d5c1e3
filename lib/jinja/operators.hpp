// What operators and subscripts do with values; only for this folder's sources. All throw
// std::domain_error, which says what is not understood.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "jinja/value.hpp"

namespace spillway::jinja {

Value binary(std::string const& symbol, Value const& one, Value const& other);
// `symbol` is == != < > <= >= in or "not in".
bool compared(std::string const& symbol, Value const& one, Value const& other);
Value negative(Value const& value);

// object[key]: undefined if there is none.
Value item_of(Value const& object, Value const& key);
// object.name: undefined if there is none.
Value attribute_of(Value const& object, std::string const& name);

struct SliceBounds {
  std::optional<std::int64_t> begin, end;
  std::int64_t step = 1;
};
Value slice_of(Value const& object, SliceBounds bounds);

// Returns what a loop over the value takes: elements, characters, or names of a map.
Elements elements_of(Value const& value);
// Returns how many these are.
std::int64_t length_of(Value const& value);
// Returns a value as `{{ }}` prints it.
std::string printed(Value const& value);

std::string const& text_of(Value const& value, char const* what);
std::int64_t integer_of(Value const& value, char const* what);

}  // namespace spillway::jinja
