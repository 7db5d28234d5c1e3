// The error of threads that the system does not start.
#pragma once

#include <cstdint>
#include <string_view>
#include <system_error>

#include "base/error.hpp"

namespace spillway {

// Of a key that asks for more threads than the system starts.
Error cannot_start(std::string_view key, std::int64_t started, std::int64_t wanted,
                   std::system_error const& error);
// Of threads that no key asks for.
Error cannot_start(std::system_error const& error);

// Returns what start() returns, which starts threads. Throws Error(bad_input) if the system starts
// no more.
template <class Start>
auto start_threads(Start const& start) {
  try {
    return start();
  } catch (std::system_error const& error) {
    throw cannot_start(error);
  }
}

}  // namespace spillway
