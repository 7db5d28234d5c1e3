// Makes the errors that are thrown if the system does not start a thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <system_error>

#include "base/error.hpp"

namespace spillway {

// Returns the error for threads whose number comes from the configuration key `key`.
Error cannot_start(std::string_view key, std::int64_t started, std::int64_t wanted,
                   std::system_error const& error);
// Returns the error for threads whose number does not come from a configuration key.
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
