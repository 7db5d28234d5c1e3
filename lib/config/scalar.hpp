// These functions read a scalar as a value of one type. Each throws through refuse(place, ...) if
// the value is something else.
#pragma once

#include <cstdint>
#include <string>

#include "config/place.hpp"
#include "config/value.hpp"

namespace spillway {

std::string read_text(Value const& value, Place const& place);        // reads any scalar
bool read_bool(Value const& value, Place const& place);               // reads "true" or "false"
std::int64_t read_integer(Value const& value, Place const& place);    // reads digits, 63 bits
std::uint64_t read_unsigned(Value const& value, Place const& place);  // reads digits, 64 bits
double read_real(Value const& value, Place const& place);             // refuses infinities and NaNs
std::int64_t read_bytes(Value const& value, Place const& place);      // reads text such as "8GiB"
double read_duration_s(Value const& value, Place const& place);       // reads text such as "3h50m"

}  // namespace spillway
