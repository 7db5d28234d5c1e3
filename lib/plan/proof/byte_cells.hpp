// The bytes of all tiers, cut wherever an access of a Program begins or ends: every access covers
// whole cells, so that what is known of bytes can be kept in a vector.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "plan/proof/unroll.hpp"

namespace spillway {

class ByteCells {
 public:
  // Where layout has put the buffers.
  explicit ByteCells(Program const& program);
  // Every version of every buffer by itself, before there is a layout.
  static ByteCells by_buffer(Program const& program);

  std::size_t count() const { return m_borders.size(); }

  struct Range {
    std::uint32_t first = 0, last = 0;  // [first, last)
  };
  // Of an item's accesses, in their order.
  std::span<Range const> reads(Item const& item, int step) const;
  std::span<Range const> writes(Item const& item, int step) const;
  // Of the first version of a whole buffer.
  Range all(Buffer const& buffer) const;
  // Of a cell, in its tier; only where there is a layout.
  ByteRange bytes(std::size_t cell) const;

 private:
  using Addresses = std::vector<std::int64_t>;  // two per buffer: of either version
  ByteCells(Program const& program, Addresses addresses);
  void add_borders(Buffer const& buffer, std::int64_t first, std::int64_t last);
  void find_borders(Program const& program);
  void find_ranges(Program const& program);
  std::size_t find(std::size_t from, std::int64_t border) const;
  Range range(Access const& access, std::size_t version) const;

  Addresses m_addresses;
  std::vector<std::int64_t> m_borders;         // ascending; a cell ends where the next one begins
  std::vector<std::size_t> m_cells;            // per address: its cell
  std::vector<std::size_t> m_first;            // per item: its first range
  std::array<std::vector<Range>, 2> m_ranges;  // by the step's parity: of all items' accesses
};

}  // namespace spillway
