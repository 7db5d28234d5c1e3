#include "base/cannot_start.hpp"

#include <fmt/core.h>

namespace spillway {

Error cannot_start(std::string_view key, std::int64_t started, std::int64_t wanted,
                   std::system_error const& error) {
  return {Status::bad_input,
          fmt::format("{}: only {} of {} threads can be started: {}; raise the limit (ulimit -u, "
                      "or pids.max of the job's control group) or give fewer",
                      key, started, wanted, error.code().message())};
}

}  // namespace spillway
