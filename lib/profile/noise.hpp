// Makes bytes that no storage can compress.
#pragma once

#include <cstddef>
#include <span>

namespace spillway {

// Fills `bytes` with pseudo-random values, which are the same in each call. The number of bytes
// must be a multiple of 8.
void fill_with_noise(std::span<std::byte> bytes);

}  // namespace spillway
