// Says during which items buffers are in use, and how many bytes are in use at a time.
#pragma once

#include <vector>

#include "plan/data/program.hpp"

namespace spillway {

// A stay says that bytes [first_byte, last_byte) of a buffer are in use during items `first` to
// `last`, including `last`.
struct Stay {
  ItemNumber first = 0, last = -1;
  std::int64_t first_byte = 0, last_byte = 0;

  bool meets(Stay const& other) const { return first <= other.last && other.first <= last; }
  bool covers(ItemNumber item) const { return first <= item && item <= last; }
};

// Holds the stays of a buffer. A buffer that nothing uses has none. A buffer has several if items
// at the begin of the next step still use it, or if a part of it is away for a while.
using Lifetime = std::vector<Stay>;
using Lifetimes = IdVector<Lifetime>;  // indexed by BufferId

// A buffer lives from its first access to its last one, or to the horizon of the last item. A part
// that is spilled and reloaded in place is away from its last use before the reload until the
// reload. Buffers that are persistent or have two versions always live. A spanning buffer that no
// item reads lives to the end, because the caller who runs the program reads it.
Lifetimes lifetimes(Program const& program);

inline constexpr std::int64_t kPageBytes = 4096, kLineBytes = 64, kSpillBytes = 64 << 10;
// Returns a number of which offsets and rounded sizes are multiples. It is a page for buffers of at
// least a page, so that direct I/O can move them, and a cache line for smaller buffers. In the
// spill file it is kSpillBytes.
std::int64_t alignment_bytes(std::int64_t bytes, Tier tier);
// Return the rounded-up bytes that a buffer takes in its arena: the first function for one version,
// the second one for all versions.
std::int64_t footprint_bytes(std::int64_t bytes, Tier tier);
std::int64_t footprint_bytes(Buffer const& buffer);

// Returns how many bytes are alive in `tier` during each item. No peak can be below the maximum.
IdVector<std::int64_t> live_bytes(Program const& program, Lifetimes const& lifetimes, Tier tier);

}  // namespace spillway
