// Writes text to a descriptor that may take only some of the bytes at a time, such as a pipe.
#pragma once

#include <string_view>

namespace spillway {

// Writes the whole text at the descriptor's current position. Waits while the descriptor takes no
// bytes, even if another process has set O_NONBLOCK on it. Returns 0, or the errno of a write that
// failed.
int write_all(int fd, std::string_view text) noexcept;

}  // namespace spillway
