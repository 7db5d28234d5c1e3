#include "report/utc_text.hpp"

#include <fmt/chrono.h>

namespace spillway {

std::string utc_text(std::time_t time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(time));
}

}  // namespace spillway
