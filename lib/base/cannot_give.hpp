// Makes the errors that are thrown if the system does not give memory.
#pragma once

#include <cerrno>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"

namespace spillway {

// Returns the error that says that `what` needed `bytes` bytes and did not get them. `error` is the
// errno of the request, or ENOMEM if the request sets no errno.
Error cannot_give(std::string_view what, std::int64_t bytes, int error = ENOMEM);
// Returns the error that stands for a std::bad_alloc, which says neither what needed memory nor how
// much.
Error no_more_memory();

}  // namespace spillway
