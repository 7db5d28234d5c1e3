// Puts tiers, lanes and amounts into words for people who have never seen a plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "plan/data/program.hpp"

namespace spillway {

// Returns "device memory", "host memory" or "NVMe".
std::string_view words(Tier tier);
// Returns what a lane does, for example "computing" or "reading NVMe".
std::string_view words(Lane lane);

// Says what kind of data a buffer holds. Texts for people sum up bytes by these kinds.
enum class Content : std::uint8_t {
  parameters,
  gradients,
  optimizer,    // what the optimizer keeps: remainders and moments
  activations,  // activations of layers, and their gradients
  scratch,      // temporary data of ops, of updates and of exchanges between ranks
  small,        // batches, losses and norms
};
inline constexpr int kContents = 6;
std::string_view name(Content content);
Content content(Program const& program, Buffer const& buffer);
// Returns the kind of data that an item copies or exchanges. If one side of the item is scratch,
// the other side decides.
Content moved_content(Program const& program, Item const& item);

// Formats bytes for a person, and 0 as "-".
std::string bytes_or_dash(std::int64_t bytes);
// Formats a share as "62 %", or as "<1 %" if it is more than 0 and rounds to 0.
std::string percent(double part, double whole);
// Returns a number with its noun, for example "1 rank" or "2 ranks".
std::string count(std::int64_t number, std::string_view what);
// Returns a change such as "+14 %" or "-5 %", or "same" if it rounds to 0. Returns an empty text if
// one of the times is 0, which means unknown.
std::string change(double now_s, double before_s);

}  // namespace spillway
