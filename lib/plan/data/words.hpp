// These functions put tiers, lanes and amounts into words for people who have never seen a plan.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/count.hpp"
#include "plan/data/program.hpp"

namespace spillway {

// Returns "device memory", "host memory" or "NVMe".
std::string_view words(Tier tier);
// Returns what a lane does, for example "computing" or "reading NVMe".
std::string_view words(Lane lane);
// Returns what computing waits for if it waits for a lane, for example "NVMe reads".
std::string_view awaited(Lane lane);

// A Content is a kind of data that buffers hold. Texts for people sum up bytes by kinds of data.
enum class Content : std::uint8_t {
  parameters,
  gradients,
  optimizer,    // These are the remainders and moments that the optimizer keeps.
  activations,  // These are activations and the gradients of activations.
  scratch,      // Ops, updates and exchanges between ranks need this data for a moment.
  small,        // These are batches, losses, norms and control words.
};
inline constexpr int kContents = 6;
std::string_view name(Content content);
Content content(Program const& program, Buffer const& buffer);
// Returns the kind of data that an item copies or exchanges. If one operand of the item is scratch,
// the other operand decides.
Content moved_content(Program const& program, Item const& item);

// Returns a number of bytes as a text for people, which is "-" for 0.
std::string bytes_or_dash(std::int64_t bytes);
// Returns a share as a text such as "62 %", or "<1 %" if it is more than 0 and rounds to 0.
std::string percent(double part, double whole);
// Returns a change of a time such as "+14 %" or "-5 %", or "same" if it rounds to 0. The text is
// empty if one of the times is 0, which means unknown.
std::string change(double now_s, double before_s);

}  // namespace spillway
