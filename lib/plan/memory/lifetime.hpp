// Lifetimes say during which items buffers are in use, and how many bytes are in use at a time.
#pragma once

#include <vector>

#include "plan/data/program.hpp"

namespace spillway {

// A Stay says that bytes [first_byte, last_byte) of a buffer are in use during items `first` to
// `last`, including `last`.
struct Stay {
  ItemNumber first = 0, last = -1;
  std::int64_t first_byte = 0, last_byte = 0;

  bool meets(Stay const& other) const { return first <= other.last && other.first <= last; }
  bool covers(ItemNumber item) const { return first <= item && item <= last; }
};

// A Lifetime holds the stays of a buffer. A buffer that nothing uses has none. A buffer has several
// if items at the beginning of the next step still use it, or if a part of it is away for a while.
using Lifetime = std::vector<Stay>;
using Lifetimes = IdVector<Lifetime>;  // Lifetimes hold the Lifetime of each buffer.

// Returns when each buffer lives: from its first access to its last one, or to the horizon of the
// last item. A part that is spilled and reloaded in place is away from its last use before the
// reload until the reload. Buffers that are persistent, reserved or have two versions always live.
// A spanning buffer that no item reads lives to the end, because the caller of the Program reads
// it.
Lifetimes lifetimes(Program const& program);

inline constexpr std::int64_t kPageBytes = 4096, kLineBytes = 64, kSpillBytes = 64 << 10;
// Returns the alignment of a buffer: its offset and its rounded size are multiples of that number.
// It is kSpillBytes in the spill file, a page for other buffers of at least a page, so that direct
// I/O can move them, and a cache line for smaller buffers.
std::int64_t alignment_bytes(std::int64_t bytes, Tier tier);
// Returns how many bytes a buffer takes in its arena, rounded up: the first function is for one
// version, the second one for all versions.
std::int64_t footprint_bytes(std::int64_t bytes, Tier tier);
std::int64_t footprint_bytes(Buffer const& buffer);

// Returns how many bytes of `tier` are in use during each item. No peak can be below the maximum.
IdVector<std::int64_t> live_bytes(Program const& program, Lifetimes const& lifetimes, Tier tier);

}  // namespace spillway
