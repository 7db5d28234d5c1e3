// Makes the errors that are thrown if the system does not start a thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <system_error>

#include "base/error.hpp"

namespace spillway {

// Returns the error to throw if only `started` of `wanted` threads could be started and the
// configuration key `key` gives their number.
Error cannot_start(std::string_view key, std::int64_t started, std::int64_t wanted,
                   std::system_error const& error);
// Returns the error to throw if a thread cannot be started and no configuration key gives the
// number of threads.
Error cannot_start(std::system_error const& error);

// Returns the result of start(), which starts threads. Throws Error(bad_input) if the system starts
// no more threads.
template <class Start>
auto start_threads(Start const& start) {
  try {
    return start();
  } catch (std::system_error const& error) {
    throw cannot_start(error);
  }
}

}  // namespace spillway
