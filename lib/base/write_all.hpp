// Texts to a descriptor that takes what it can: a pipe, a terminal, a file.
#pragma once

#include <string_view>

namespace spillway {

// Writes all of the text, where the descriptor stands. What takes only a part, or nothing just now
// as it was made not to wait (O_NONBLOCK) by whoever else has it, is waited for. Gives an errno, or
// 0 when all is written.
int write_all(int fd, std::string_view text) noexcept;

}  // namespace spillway
