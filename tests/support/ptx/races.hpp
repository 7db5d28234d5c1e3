// Finds two accesses to a byte, at least one a write, between which nothing is waited for.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "tests/support/ptx/stamp.hpp"

namespace spillway::test::ptx {

// Whoever touches bytes now.
struct Toucher {
  Stamp now;
  std::uint32_t first_epoch;  // of the block
  Seen const* seen;
  Past const* past;
  bool writes;
};

struct Race {
  Stamp earlier;
  bool earlier_writes;
};

// Keeps for each byte who wrote it last and two of those that have read it. Up to four bytes are
// kept together, as many as the smallest access to their page has.
class Races {
 public:
  // In global memory nothing orders the blocks of a launch; shared memory is a block's own.
  explicit Races(bool blocks_race) : m_blocks_race(blocks_race) {}

  std::optional<Race> touch(std::uint64_t address, unsigned bytes, Toucher const& toucher);

 private:
  struct Cell {
    Stamp write, reads[2];
  };
  struct Page {
    unsigned cell_bits;  // a cell has 2 to the power of these bytes
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
  std::array<Found, 16> m_found = {};  // some that were touched last
};

}  // namespace spillway::test::ptx
