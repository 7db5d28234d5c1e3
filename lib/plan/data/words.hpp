// The words in which plans are told to somebody who has never seen one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plan/data/program.hpp"

namespace spillway {

// "device memory", "host memory", "NVMe".
std::string_view words(Tier tier);
// "computing", "reading NVMe", ...
std::string_view words(Lane lane);

// The kinds of things that bytes hold, for sums that a person reads.
enum class Content : std::uint8_t {
  parameters,
  gradients,
  optimizer,    // remainders and moments
  activations,  // of layers, and their gradients
  scratch,      // of ops, of updates and of what ranks exchange
  small,        // batches, losses, norms
};
inline constexpr int kContents = 6;
std::string_view name(Content content);
Content content(Program const& program, Buffer const& buffer);
// Says what a copy moves or ranks exchange. One side of it may be scratch, and the other one
// counts.
Content moved_content(Program const& program, Item const& item);

// Bytes for a person; 0 is "-".
std::string bytes_or_dash(std::int64_t bytes);
// A share as "62 %", or as "<1 %" if it is more than nothing and rounds to 0.
std::string percent(double part, double whole);
// "1 rank", "2 ranks".
std::string count(std::int64_t number, std::string_view what);
// "+14 %", "-5 %", or "same" if it rounds to 0; empty if one of the times is not known (0).
std::string change(double now_s, double before_s);

}  // namespace spillway
