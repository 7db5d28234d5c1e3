// Reads numbers from text.
#pragma once

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace spillway {

// Returns the number if std::from_chars reads one from the whole text, otherwise nothing, for
// example if a Number cannot hold it.
template <class Number>
std::optional<Number> to_number(std::string_view text) {
  Number value{};
  auto const* const last = text.data() + text.size();
  auto const [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc{} || end != last) return {};
  return value;
}

// Returns the number n >= 0 in a name "<before>n<after>", and nothing for any other name or if n
// has leading zeros.
inline std::optional<std::int64_t> number_between(std::string_view before, std::string_view name,
                                                  std::string_view after) {
  if (!name.starts_with(before) || !name.ends_with(after)) return {};
  name.remove_prefix(before.size());
  if (name.size() < after.size()) return {};
  name.remove_suffix(after.size());
  auto const number = to_number<std::int64_t>(name);
  bool const is_made_of_it = number && *number >= 0 && name == std::to_string(*number);
  return is_made_of_it ? number : std::nullopt;
}

}  // namespace spillway
