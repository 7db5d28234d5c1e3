#include "base/allocator_pass.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace spillway {

namespace {

void put(char const* text) {
  [[maybe_unused]] auto const written = ::write(STDERR_FILENO, text, std::strlen(text));
}

}  // namespace

void refuse_when_locked(char const* what) {
  if (!t_allocator_locked) return;
  t_allocator_locked = false;  // abort() itself may ask for memory
  put("debug.locked_allocator: after step 0 a thread that runs items asked for ");
  put(what);
  put("\n");
  std::abort();
}

}  // namespace spillway
