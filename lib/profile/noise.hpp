// Makes bytes that no storage can compress.
#pragma once

#include <cstddef>
#include <span>

namespace spillway {

// Fills `bytes` with pseudo-random values, the same each time. Their count must be a multiple of 8.
void fill_with_noise(std::span<std::byte> bytes);

}  // namespace spillway
