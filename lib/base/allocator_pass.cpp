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
  if (!g_lock_of_thread()) return;
  g_lock_of_thread() = false;  // abort() itself may ask for memory
  put("debug.locked_allocator: after step 0 a thread that runs items asked for ");
  put(what);
  put("\n");
  std::abort();
}

}  // namespace spillway
