#include "config/place.hpp"

#include "base/error.hpp"

namespace spillway {

std::string Place::text() const {
  if (where.empty() || key.empty()) return where + key;
  return where + ": " + key;
}

void refuse(Place const& place, std::string const& problem) {
  auto const prefix = place.text();
  throw Error(Status::bad_input, prefix.empty() ? problem : prefix + ": " + problem);
}

}  // namespace spillway
