// Finds pairs of accesses to the same bytes, at least one of them a write, that nothing orders.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/support/cuda/address_range.hpp"
#include "tests/support/cuda/clock.hpp"

namespace spillway::test::cuda {

struct MemoryAccess {
  AddressRange range;
  bool writes = false;
};

// Bytes are divided into cells where accesses begin or end. A plan uses the same bytes again and
// again, so there are few cells.
class Accesses {
 public:
  // Adds an access by work that begins at mark `begin` and ends at mark `end`. Complains about
  // every access that was added before, conflicts with this one and need not have ended before
  // `begin`.
  void add(MemoryAccess const& access, Mark const& begin, Mark const& end,
           std::string const& label);
  void forget(AddressRange const& range);
  void forget_all() { m_cells.clear(); }

 private:
  struct Moment {
    int component = -1;  // is -1 if there was no access
    std::uint64_t time = 0;
    std::string label;
  };
  struct Cell {
    std::uintptr_t last = 0;
    Moment write;
    std::vector<Moment> reads;  // has the latest read by each component since the last write
  };
  using Cells = std::map<std::uintptr_t, Cell>;  // has the address at which a cell begins as key

  void cut(std::uintptr_t at);
  void fill_gaps(AddressRange const& range);
  static void touch(Cell& cell, MemoryAccess const& access, Mark const& begin, Moment const& now);

  Cells m_cells;
};

}  // namespace spillway::test::cuda
