// The error of a key that asks for more threads than the system starts.
#pragma once

#include <cstdint>
#include <string_view>
#include <system_error>

#include "base/error.hpp"

namespace spillway {

Error cannot_start(std::string_view key, std::int64_t started, std::int64_t wanted,
                   std::system_error const& error);

}  // namespace spillway
