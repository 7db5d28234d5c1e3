// Reads numbers from text.
#pragma once

#include <charconv>
#include <optional>
#include <string_view>
#include <system_error>

namespace spillway {

// Returns the number that the whole text is, as std::from_chars reads it; nothing for any other
// text, or if the number does not fit.
template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number value{};
  auto const* const last = text.data() + text.size();
  auto const [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{} || end != last) return {};
  return value;
}

}  // namespace spillway
