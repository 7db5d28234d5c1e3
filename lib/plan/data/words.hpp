// These words tell of plans to somebody who has never seen one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plan/data/program.hpp"

namespace spillway {

// Says "device memory", "host memory" or "NVMe".
std::string_view words(Tier tier);
// Says what a lane does: "computing", "reading NVMe", ...
std::string_view words(Lane lane);

// Bytes hold one of these, for sums that a person reads.
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

// Writes bytes for a person, and 0 as "-".
std::string bytes_or_dash(std::int64_t bytes);
// Writes a share as "62 %", or as "<1 %" if it is more than nothing and rounds to 0.
std::string percent(double part, double whole);
// Says "1 rank", "2 ranks".
std::string count(std::int64_t number, std::string_view what);
// Says "+14 %", "-5 %", or "same" if it rounds to 0; nothing if a time is not known (0).
std::string change(double now_s, double before_s);

}  // namespace spillway
