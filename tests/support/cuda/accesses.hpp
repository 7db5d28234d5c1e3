// Finds two accesses to the same bytes, one of them a write, that nothing orders.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/cuda/clock.hpp"
#include "tests/support/cuda/range.hpp"

namespace spillway::test::cuda {

struct MemoryAccess {
  Range range;
  bool writes = false;
};

// Bytes are cut into cells where accesses began or ended. A plan uses the same bytes again and
// again, so there are few cells.
class Accesses {
 public:
  // What begins at one mark and ends at the other touches the bytes. Complains about what it races
  // with.
  void add(MemoryAccess const& access, Mark const& begin, Mark const& end,
           std::string const& label);
  void forget(Range const& range);
  void forget_all() { m_cells.clear(); }

 private:
  struct Moment {
    int component = -1;  // -1: none
    std::uint64_t time = 0;
    std::string label;
  };
  struct Cell {
    std::uintptr_t last = 0;
    Moment write;
    std::vector<Moment> reads;  // since the write, the latest of every component
  };
  using Cells = std::map<std::uintptr_t, Cell>;  // by where they begin

  void cut(std::uintptr_t at);
  void fill_gaps(Range const& range);
  static void touch(Cell& cell, MemoryAccess const& access, Mark const& begin, Moment const& now);

  Cells m_cells;
};

}  // namespace spillway::test::cuda
