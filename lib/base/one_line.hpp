// Makes one line of a text from a file, so that it fits into a message.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "base/printable.hpp"

namespace spillway {

// Returns `text` as a terminal may show it (printable), with blanks for its line ends and tabs.
inline std::string one_line(std::string_view text) {
  auto line = printable(text);
  std::ranges::replace_if(
      line, [](char c) { return c == '\n' || c == '\t'; }, ' ');
  return line;
}

}  // namespace spillway
