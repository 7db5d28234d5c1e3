// Changes as they happen to files: bits, bytes, numbers at the edges, parts lost, doubled or moved.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::test {

// One to eight changes; equal arguments give equal bytes.
std::string mutated(std::string bytes, std::uint64_t seed);

}  // namespace spillway::test
