// Makes the errors of requests for more memory than the system gives.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"

namespace spillway {

// `what` needed `bytes` bytes. `error` is an errno. The default is for functions that give no
// reason.
Error cannot_give(std::string_view what, std::int64_t bytes, int error = ENOMEM);
// Returns the error that stands for a std::bad_alloc, which says neither.
Error no_more_memory();

}  // namespace spillway
