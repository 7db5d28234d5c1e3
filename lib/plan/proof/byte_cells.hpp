// ByteCells cut the bytes of all tiers into cells, at every byte where an access of a Program
// begins or ends. Every access then covers whole cells, and a vector can say what is known of a
// cell.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "plan/proof/unroll.hpp"

namespace spillway {

class ByteCells {
 public:
  // Makes cells of the bytes of each tier. Every buffer must have the offset that layout gives it.
  explicit ByteCells(Program const& program) : ByteCells(program, true) {}
  // Makes cells of each version of each buffer by itself. The program needs no layout for this.
  static ByteCells by_buffer(Program const& program) { return {program, false}; }

  std::size_t count() const { return m_borders.size(); }

  struct CellRange {
    std::uint32_t first = 0, last = 0;  // The range has the cells [first, last).
  };
  // Returns a range of cells for each read, or write, of an item, in the order of the item's list.
  std::span<CellRange const> reads(Item const& item, int step) const;
  std::span<CellRange const> writes(Item const& item, int step) const;
  // Returns all cells of the first version of a buffer.
  CellRange all(Buffer const& buffer) const;
  // Returns which bytes of its tier a cell has. The program must have a layout.
  ByteRange bytes(std::size_t cell) const;

 private:
  template <class T>
  using PerVersion = IdVector<std::array<T, 2>>;  // A PerVersion has a value for each version.
  ByteCells(Program const& program, bool by_layout);
  void add_borders(Buffer const& buffer, std::int64_t first, std::int64_t last);
  void find_borders(Program const& program);
  void find_ranges(Program const& program);
  std::size_t find(std::size_t from, std::int64_t border) const;
  CellRange range(Access const& access, int version) const;

  PerVersion<std::int64_t> m_addresses;
  std::vector<std::int64_t> m_borders;  // the addresses at which cells begin, in order
  PerVersion<std::size_t> m_cells;      // the cell that begins at each of m_addresses
  IdVector<std::size_t> m_first;        // where the ranges of each item begin in m_ranges
  std::array<std::vector<CellRange>, 2> m_ranges;  // what accesses use in even and odd steps
};

// A PerCell holds a value for each cell.
template <class T>
struct PerCell : std::vector<T> {
  explicit PerCell(ByteCells const& cells, T const& value = {})
      : std::vector<T>(cells.count(), value) {}
  using std::vector<T>::operator[];
  std::span<T> operator[](ByteCells::CellRange range) {
    return std::span(*this).subspan(range.first, range.last - range.first);
  }
};

}  // namespace spillway
