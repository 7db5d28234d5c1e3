// Finds races: two accesses of one launch to a byte, at least one of them a write, that neither a
// barrier of the block nor, within a warp, bar.warp.sync orders. Lanes that run together are not
// ordered by that, and blocks are never ordered. Strong accesses do not race with each other.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tests/support/ptx/stamp.hpp"

namespace spillway::test::ptx {

// A Toucher is the lane that touches bytes now. What the pointers name must live during the call.
struct Toucher {
  Stamp now;
  std::uint32_t first_epoch;  // is that of its block
  Seen const* seen;
  Past const* past;
  bool writes;
};

struct Race {
  Stamp earlier;
  bool earlier_writes;
};

// Keeps for each byte who wrote it last, and two of those that have read it since. Up to four bytes
// share one record, as many as the smallest access to their page has.
class Races {
 public:
  // Blocks race in global memory, which they share, and not in shared memory, which each has alone.
  explicit Races(bool blocks_race) : m_blocks_race(blocks_race) {}

  // Records an access, of a power of two of aligned bytes, and returns a race with an earlier one.
  std::optional<Race> touch(std::uint64_t address, unsigned bytes, Toucher const& toucher);

 private:
  struct Cell {
    Stamp write, reads[2];
  };
  struct Page {
    unsigned cell_bits;  // means that a cell is of 2^cell_bits bytes
    std::vector<Cell> cells;
  };

  Page& page(std::uint64_t number, unsigned cell_bits);
  static void cut(Page& page, unsigned cell_bits);
  bool unordered(Stamp const& earlier, Toucher const& toucher) const;
  unsigned distance(Stamp const& earlier, Toucher const& toucher) const;
  std::optional<Race> touch(Cell& cell, Toucher const& toucher) const;

  bool m_blocks_race;
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> m_pages;
  struct Found {
    std::uint64_t number = ~std::uint64_t{0};
    Page* page = nullptr;
  };
  std::array<Found, 16> m_found = {};  // saves looking up the pages that were touched last
};

}  // namespace spillway::test::ptx
