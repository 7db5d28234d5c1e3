// Changes as they happen to files: bits, bytes, numbers at the edges, parts lost, doubled or moved.
#pragma once

#include <cstdint>
#include <string>

namespace spillway::test {

// Makes one to eight changes, or one other number; equal arguments give equal bytes.
std::string mutated(std::string bytes, std::uint64_t seed);

// Gives one whole number in a text another value. All else stays, so that what a reader does with
// numbers is reached, which few texts are sound enough for after changes to any bytes.
std::string with_other_number(std::string text, std::uint64_t seed);

}  // namespace spillway::test
