#include "base/check.hpp"

#include <fmt/core.h>

#include <stdexcept>

#include "base/allocator_pass.hpp"

namespace spillway {

void fail_check(std::string_view where, std::string_view why) {
  AllocatorPass const pass;  // the message needs memory, even on a thread that may not allocate
  throw std::logic_error(fmt::format("{}: {}", where, why));
}

}  // namespace spillway
