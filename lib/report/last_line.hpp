// Finds the end of the last complete line of a file. Behind it may lie the beginning of a line that
// a process was writing when it died.
#pragma once

#include <cstdint>
#include <optional>

namespace spillway {

// Returns the offset behind the last newline in the file's first `size_bytes`, 0 if there is none,
// and nothing if the file cannot be read.
std::optional<std::int64_t> end_of_last_line(int file, std::int64_t size_bytes);

}  // namespace spillway
