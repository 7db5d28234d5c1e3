// The error of what needs more memory than the system gives.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"

namespace spillway {

// `what` would have taken `bytes`; `error` is an errno, by default that of who only says no.
Error cannot_give(std::string_view what, std::int64_t bytes, int error = ENOMEM);

}  // namespace spillway
