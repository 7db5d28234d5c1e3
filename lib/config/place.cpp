#include "config/place.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace spillway {

std::string Place::text() const {
  if (where.empty() || key.empty()) return where + key;
  return where + ": " + key;
}

void refuse(Place const& place, std::string const& problem) {
  auto const prefix = place.text();
  auto line = prefix.empty() ? problem : prefix + ": " + problem;
  constexpr std::size_t most = 1000;  // in bytes; a quoted input may be long
  if (line.size() > most) line.replace(most, line.npos, " ...");
  // The line may quote the input, in which a control character could end the line or control the
  // terminal.
  std::ranges::replace_if(
      line, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  throw Error(Status::bad_input, line);
}

}  // namespace spillway
