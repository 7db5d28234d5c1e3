// Spreading moves buffers to bytes that nothing has used for long. A first fit takes the lowest
// free bytes, even if they became free an item ago: a copy to the device that could run ahead would
// wait for that item, although other bytes have been free for long.
#pragma once

#include <span>

#include "plan/memory/movable.hpp"

namespace spillway {

// Moves buffers of one tier that lie side by side without conflict to such offsets, and leaves them
// so. No byte from `peak` on is used.
void spread(std::span<Movable> placed, Program const& program, std::int64_t peak);

}  // namespace spillway
