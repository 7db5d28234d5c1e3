#include "config/expand.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>

namespace spillway {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// Removes "NAME" or "{NAME}" from the front of `rest`. Returns the name, or "" if there is none.
std::string take_name(std::string_view& rest) {
  bool const braced = rest.starts_with('{');
  auto const begin = rest.begin() + (braced ? 1 : 0);
  auto const end = std::find_if_not(begin, rest.end(), is_word);
  if (braced && (end == rest.end() || *end != '}')) return {};
  std::string const name(begin, end);
  rest.remove_prefix(static_cast<std::size_t>(end - rest.begin()) + (braced ? 1 : 0));
  return name;
}

}  // namespace

std::string expand_variables(std::string_view text, Place const& place) {
  std::string result;
  for (auto rest = text; !rest.empty();) {
    auto const plain = std::min(rest.find('$'), rest.size());
    result += rest.substr(0, plain);
    rest.remove_prefix(plain);
    if (rest.empty()) break;
    rest.remove_prefix(1);
    if (rest.starts_with('$')) {
      rest.remove_prefix(1);
      result += '$';
      continue;
    }
    auto const name = take_name(rest);
    if (name.empty()) refuse(place, fmt::format("'$' without a variable's name in '{}'", text));
    auto const* const value = std::getenv(name.c_str());
    if (!value) refuse(place, fmt::format("the environment variable ${} is not set", name));
    result += value;
  }
  return result;
}

std::string expand_home(std::string_view path, Place const& place) {
  if (!path.starts_with('~')) return std::string(path);
  auto const rest = path.substr(1);
  if (!rest.empty() && !rest.starts_with('/'))
    refuse(place, fmt::format("'{}': whose home that is, is not looked up; write the directory, or "
                              "./{} for a name that begins so",
                              path, path));
  return expand_variables("$HOME", place) + std::string(rest);
}

std::string escape_variables(std::string_view path) {
  std::string text;
  for (char const c : path) text += c == '$' ? "$$" : std::string(1, c);
  return text;
}

}  // namespace spillway
