// Changes as they happen to files: bits, bytes, numbers at the edges, parts lost, doubled or moved.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::test {

// One to eight changes; equal arguments give equal bytes.
std::string mutated(std::string bytes, std::uint64_t seed);

// Gives one whole number in a text another value, and leaves all around it as it is.
std::string with_other_number(std::string text, std::uint64_t seed);

}  // namespace spillway::test
