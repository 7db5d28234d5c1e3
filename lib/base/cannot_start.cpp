#include "base/cannot_start.hpp"

#include <fmt/core.h>

namespace spillway {
namespace {

constexpr std::string_view kAdvice =
    "raise the limit (ulimit -u, or pids.max of the job's control group)";

}  // namespace

Error cannot_start(std::string_view key, std::int64_t started, std::int64_t wanted,
                   std::system_error const& error) {
  return {Status::bad_input,
          fmt::format("{}: only {} of {} threads can be started: {}; {} or give fewer", key,
                      started, wanted, error.code().message(), kAdvice)};
}

Error cannot_start(std::system_error const& error) {
  return {Status::bad_input, fmt::format("the system starts no more threads: {}; {}",
                                         error.code().message(), kAdvice)};
}

}  // namespace spillway
