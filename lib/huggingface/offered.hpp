// Makes messages that refuse a word and list those that are offered; only for this folder's
// sources.
#pragma once

#include <functional>
#include <string>

namespace spillway {

// Returns "is not offered; these are: a, b". `name` returns the word for an entry.
template <class Range, class Name>
std::string not_offered(Range const& offered, Name name) {
  std::string text = "is not offered; these are: ";
  bool is_first = true;
  for (auto const& one : offered) {
    text.append(is_first ? "" : ", ").append(std::invoke(name, one));
    is_first = false;
  }
  return text;
}

}  // namespace spillway
