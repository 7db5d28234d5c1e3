// When buffers are alive, in the static order of items, and how much that sums up to.
#pragma once

#include <vector>

#include "plan/data/program.hpp"

namespace spillway {

// Bytes [first_byte, last_byte) of a buffer's footprint are in use during items [first, last].
struct Stay {
  ItemNumber first = 0, last = -1;  // both included
  std::int64_t first_byte = 0, last_byte = 0;

  bool meets(Stay const& other) const { return first <= other.last && other.first <= last; }
  bool covers(ItemNumber item) const { return first <= item && item <= last; }
};

// Empty for a buffer that nothing uses; several stays for one that the next step's first items
// still use, or of which a part is away for a while.
using Lifetime = std::vector<Stay>;

// Per buffer: from its first access to its last one or to that item's horizon. A part that is
// reloaded in place is away between its last use before that and the reload. The whole Program for
// what is persistent or has two versions; to the end for a spanning buffer that nothing reads (its
// reader is the program's user).
std::vector<Lifetime> lifetimes(Program const& program);

// Offsets and footprints are multiples of this: a page for buffers of a page and more, so that they
// can be moved by direct I/O, and a cache line for smaller ones; on NVMe 64 KiB, the unit in which
// the spill file keeps checksums.
inline constexpr std::int64_t kPageBytes = 4096, kLineBytes = 64, kSpillBytes = 64 << 10;
// A part of what lies on NVMe is whole pieces of this, but for its end: they are checked as wholes.
inline constexpr std::int64_t kPieceBytes = std::int64_t{1} << 20;
std::int64_t alignment_bytes(std::int64_t bytes, Tier tier);
// What a buffer takes in its arena, rounded up: of one version, and in all.
std::int64_t footprint_bytes(std::int64_t bytes, Tier tier);
std::int64_t footprint_bytes(Buffer const& buffer);

// Per item: bytes alive in `tier` while it runs. No layout can have a lower peak than their
// maximum.
std::vector<std::int64_t> live_bytes(Program const& program, std::vector<Lifetime> const& lifetimes,
                                     Tier tier);

}  // namespace spillway
