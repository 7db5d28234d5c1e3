// When buffers are alive, in the static order of items, and how much that sums up to.
#pragma once

#include <vector>

#include "plan/program.hpp"

namespace spillway {

// Items [first, last], both included; empty (last < first) for a buffer that nothing uses.
struct Lifetime {
  ItemNumber first = 0, last = -1;

  bool empty() const { return last < first; }
  bool overlaps(Lifetime const& other) const { return first <= other.last && other.first <= last; }
};

// Per buffer: from its first access to its last one or to that item's horizon. The whole Program
// for what is persistent or has two versions; to the end for a spanning buffer that nothing reads
// (its reader is the program's user).
std::vector<Lifetime> lifetimes(Program const& program);

// Offsets and footprints are multiples of this. In memory: a page for buffers of a page and more,
// so that they can be moved by direct I/O; a cache line for smaller ones. In the spill file: what
// its ranges begin at.
inline constexpr std::int64_t kPageBytes = 4096, kLineBytes = 64, kSpillBytes = 65'536;
std::int64_t alignment_bytes(std::int64_t bytes, Tier tier);
// What a buffer takes in its arena, rounded up: of one version, and in all.
std::int64_t footprint_bytes(std::int64_t bytes, Tier tier);
std::int64_t footprint_bytes(Buffer const& buffer);

// Per item: bytes alive in `tier` while it runs. No layout can have a lower peak than their
// maximum.
std::vector<std::int64_t> live_bytes(Program const& program, std::vector<Lifetime> const& lifetimes,
                                     Tier tier);

}  // namespace spillway
