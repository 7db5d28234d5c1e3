// Where the last whole line of a file ends, behind which a writer may have died.
#pragma once

#include <cstdint>
#include <optional>

namespace spillway {

// The place behind the last newline in the file's first `size_bytes`; 0: there is none. Empty: they
// cannot be read.
std::optional<std::int64_t> end_of_last_line(int file, std::int64_t size_bytes);

}  // namespace spillway
