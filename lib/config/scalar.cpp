#include "config/scalar.hpp"

#include <fmt/core.h>

#include <charconv>
#include <cmath>
#include <optional>

#include "base/units.hpp"

namespace spillway {
namespace {

// Returns the text of a scalar. `expected` completes the message "expected ..., got a list".
std::string const& scalar_text(Value const& value, Place const& place, char const* expected) {
  if (value.kind == Value::Kind::null) {
    refuse(place, fmt::format("no value given; expected {}", expected));
  }
  if (value.kind != Value::Kind::scalar) {
    refuse(place, fmt::format("expected {}, got {}", expected, describe(value)));
  }
  return value.text;
}

template <class T>
T read_number(Value const& value, Place const& place, char const* expected,
              char const* out_of_range = "does not fit in 64 bits") {
  auto const& text = scalar_text(value, place, expected);
  T number{};
  auto const end = text.data() + text.size();
  auto const result = std::from_chars(text.data(), end, number);
  if (result.ec == std::errc::result_out_of_range && result.ptr == end) {
    refuse(place, fmt::format("{} {}", text, out_of_range));
  }
  if (result.ec != std::errc{} || result.ptr != end) {
    refuse(place, fmt::format("expected {}, got '{}'", expected, text));
  }
  return number;
}

template <class T>
T parsed(std::optional<T> const& result, Value const& value, Place const& place,
         char const* expected) {
  if (!result) refuse(place, fmt::format("expected {}, got '{}'", expected, value.text));
  return *result;
}

}  // namespace

std::string read_text(Value const& value, Place const& place) {
  return scalar_text(value, place, "a text");
}

bool read_bool(Value const& value, Place const& place) {
  auto const& text = scalar_text(value, place, "true or false");
  if (text != "true" && text != "false") {
    refuse(place, fmt::format("expected true or false, got '{}'", text));
  }
  return text == "true";
}

std::int64_t read_integer(Value const& value, Place const& place) {
  return read_number<std::int64_t>(value, place, "an integer");
}

std::uint64_t read_unsigned(Value const& value, Place const& place) {
  return read_number<std::uint64_t>(value, place, "an integer that is not negative");
}

double read_real(Value const& value, Place const& place) {
  auto const number = read_number<double>(value, place, "a number",
                                          "is out of the range of a double, 5e-324 to 1.8e308");
  if (!std::isfinite(number)) refuse(place, fmt::format("{} is not a finite number", value.text));
  return number;
}

std::int64_t read_bytes(Value const& value, Place const& place) {
  constexpr auto expected = "a size below 2^63 bytes (8GiB, 1.5GB, 4096)";
  return parsed(parse_bytes(scalar_text(value, place, expected)), value, place, expected);
}

double read_duration_s(Value const& value, Place const& place) {
  constexpr auto expected = "a duration (3h50m, 90s, 2d)";
  return parsed(parse_duration_s(scalar_text(value, place, expected)), value, place, expected);
}

}  // namespace spillway
