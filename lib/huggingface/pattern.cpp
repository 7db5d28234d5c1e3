#include "huggingface/pattern.hpp"

#include <algorithm>

namespace spillway {
namespace {

std::size_t digits_of(std::string_view name) {
  return std::min(name.find_first_not_of("0123456789"), name.size());
}

bool ends_fit(std::string_view pattern, std::string_view name) {
  for (std::size_t skipped = 0; skipped <= name.size(); ++skipped)
    if (fits(pattern, name.substr(skipped))) return true;
  return false;
}

}  // namespace

bool fits(std::string_view pattern, std::string_view name) {
  while (!pattern.empty() && pattern.front() != '*') {
    auto const count =
        pattern.front() == 'N' ? digits_of(name) : std::size_t{name.starts_with(pattern.front())};
    if (count == 0) return false;
    name.remove_prefix(count);
    pattern.remove_prefix(1);
  }
  if (pattern.empty()) return name.empty();
  return pattern == "*" || ends_fit(pattern.substr(1), name);
}

}  // namespace spillway
