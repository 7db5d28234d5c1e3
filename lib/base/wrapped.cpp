#include "base/wrapped.hpp"

#include <fmt/core.h>

namespace spillway {

std::string wrapped(std::string_view line, std::string_view indent, std::size_t columns) {
  constexpr auto none = std::string_view::npos;
  std::string text;
  auto room = columns;
  while (line.size() > room) {
    auto const word = line.find_first_not_of(' ');
    auto space = line.rfind(' ', room);
    if (space == none || space < word) space = line.find(' ', word);  // the word is too long
    auto const next = line.find_first_not_of(' ', space);
    if (next == none) break;
    text.append(without_trailing_blanks(line.substr(0, space))).append("\n").append(indent);
    line.remove_prefix(next);
    room = columns - indent.size();
  }
  return text.append(line);
}

std::string wrapped_line(std::string_view line, std::string_view indent, std::size_t columns) {
  return wrapped(line, indent, columns).append("\n");
}

std::string wrapped_row(std::string_view name, std::string_view text, std::size_t width) {
  // The name's place has no spaces, so that a long word of the text stays on its line.
  auto row = wrapped_line(std::string(width, '-').append(text), std::string(width, ' '));
  return row.replace(0, width, fmt::format("{:<{}}", name, width));
}

std::string_view without_trailing_blanks(std::string_view line) {
  return line.substr(0, line.find_last_not_of(' ') + 1);
}

}  // namespace spillway
