// Says between which items buffers are in use, and how many bytes that sums up to.
#pragma once

#include <vector>

#include "plan/data/program.hpp"

namespace spillway {

// Bytes [first_byte, last_byte) of a buffer's footprint are in use during items [first, last], the
// last one included.
struct Stay {
  ItemNumber first = 0, last = -1;
  std::int64_t first_byte = 0, last_byte = 0;

  bool meets(Stay const& other) const { return first <= other.last && other.first <= last; }
  bool covers(ItemNumber item) const { return first <= item && item <= last; }
};

// A buffer that nothing uses has no stays. One has several if the next step's first items still use
// it, or if a part of it is away for a while.
using Lifetime = std::vector<Stay>;
using Lifetimes = IdVector<Lifetime>;  // by BufferId

// A buffer lives from its first access to its last one, or to that item's horizon. A part that is
// spilled and reloaded in place is away from its last use before the reload until then. Buffers
// that are persistent or have two versions always live; spanning ones that nothing reads live to
// the end, because whoever runs the program reads them.
Lifetimes lifetimes(Program const& program);

inline constexpr std::int64_t kPageBytes = 4096, kLineBytes = 64, kSpillBytes = 64 << 10;
// The spill file has a checksum for each piece of this size, so parts of what lies on NVMe begin
// and end with a piece.
inline constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;
// Offsets and footprints are multiples of this: of a page for buffers of a page and more, so that
// direct I/O can move them, and of a cache line for smaller ones. The spill file's ranges begin at
// multiples of kSpillBytes.
std::int64_t alignment_bytes(std::int64_t bytes, Tier tier);
// Return what a buffer takes in its arena, rounded up: one version of it, and all that it has.
std::int64_t footprint_bytes(std::int64_t bytes, Tier tier);
std::int64_t footprint_bytes(Buffer const& buffer);

// Returns the bytes alive in `tier` while each item runs. No layout can have a lower peak than
// their maximum.
IdVector<std::int64_t> live_bytes(Program const& program, Lifetimes const& lifetimes, Tier tier);

}  // namespace spillway
