// Writes texts to a descriptor that may take only a part at a time: a pipe, a terminal, a file.
#pragma once

#include <string_view>

namespace spillway {

// Writes all of the text at the descriptor's current position. Waits if the descriptor takes only a
// part, or nothing now because another process has set O_NONBLOCK on it. Returns 0, or an errno if
// the write failed.
int write_all(int fd, std::string_view text) noexcept;

}  // namespace spillway
