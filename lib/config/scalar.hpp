// Reads a scalar of YAML as a value of one type. All functions throw Error(bad_input), which names
// `place`, if the value is not of the type.
#pragma once

#include <cstdint>
#include <string>

#include "config/place.hpp"
#include "config/value.hpp"

namespace spillway {

std::string read_text(Value const& value, Place const& place);        // takes any scalar
bool read_bool(Value const& value, Place const& place);               // takes "true" and "false"
std::int64_t read_integer(Value const& value, Place const& place);    // takes a signed integer
std::uint64_t read_unsigned(Value const& value, Place const& place);  // takes an unsigned integer
double read_real(Value const& value, Place const& place);             // refuses infinity and NaN
std::int64_t read_bytes(Value const& value, Place const& place);      // takes text such as "8GiB"
double read_duration_s(Value const& value, Place const& place);       // takes text such as "3h50m"

}  // namespace spillway
