// Bytes that no storage can make smaller.
#pragma once

#include <cstddef>
#include <span>

namespace spillway {

// The same noise each time. Whole words of 8 bytes.
void fill_with_noise(std::span<std::byte> bytes);

}  // namespace spillway
