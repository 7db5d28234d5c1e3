#include "app/number_list.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/number.hpp"

namespace spillway {

std::vector<std::string_view> list_parts(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    auto const comma = std::min(text.find(','), text.size());
    parts.push_back(text.substr(0, comma));
    if (comma == text.size()) return parts;
    text.remove_prefix(comma + 1);
  }
}

std::string wrong_in_list(std::string const& text, std::int64_t least, std::int64_t most) {
  for (auto const part : list_parts(text)) {
    auto const number = to_number<std::int64_t>(part);
    if (!number)
      return fmt::format(
          "'{}' of '{}' is no whole number; give such numbers with commas between "
          "them",
          part, text);
    if (*number < least || *number > most)
      return fmt::format("{} is not in range {} to {}", *number, least, most);
  }
  return "";
}

std::vector<std::int64_t> number_list(std::string const& text) {
  std::vector<std::int64_t> numbers;
  for (auto const part : list_parts(text)) numbers.push_back(to_number<std::int64_t>(part).value());
  return numbers;
}

}  // namespace spillway
