// What bytes are about, for sums that a person reads.
#pragma once

#include <string_view>

#include "plan/data/program.hpp"

namespace spillway {

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
// Of what a copy moves or ranks exchange, whichever side of it is scratch.
Content moved_content(Program const& program, Item const& item);

}  // namespace spillway
