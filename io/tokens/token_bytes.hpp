// How tokens lie in files: as the smallest unsigned numbers that hold the vocabulary,
// little-endian. Only for this folder's sources.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace spillway {

// Returns 1, 2 or 4.
int smallest_bytes(std::int64_t vocab);
// Returns the lowest `token_bytes` bytes of every token.
std::vector<std::byte> narrow(std::span<std::int32_t const> tokens, int token_bytes);
// Reads as many tokens of `token_bytes` bytes as `to` has room for.
void widen(std::byte const* from, int token_bytes, std::span<std::int32_t> to);

}  // namespace spillway
