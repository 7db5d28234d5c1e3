#include "tests/support/cuda/accesses.hpp"

#include <fmt/format.h>

#include "tests/support/cuda/complaints.hpp"

namespace spillway::test::cuda {

void Accesses::cut(std::uintptr_t at) {
  auto next = m_cells.upper_bound(at);
  if (next == m_cells.begin()) return;
  auto const cell = std::prev(next);
  if (cell->first == at || cell->second.last <= at) return;
  auto half = cell->second;
  cell->second.last = at;
  m_cells.emplace_hint(next, at, std::move(half));
}

void Accesses::fill_gaps(AddressRange const& range) {
  auto at = range.first;
  for (auto cell = m_cells.lower_bound(at); at < range.last();) {
    auto const end = cell == m_cells.end() ? range.last() : std::min(cell->first, range.last());
    if (at < end) m_cells.emplace_hint(cell, at, Cell{end, {}, {}});
    if (cell == m_cells.end()) break;
    at = cell->second.last;
    ++cell;
  }
}

void Accesses::touch(Cell& cell, MemoryAccess const& access, Mark const& begin, Moment const& now) {
  auto const check = [&](Moment const& earlier, char const* did) {
    auto const own = earlier.component == now.component && earlier.time == now.time;
    if (own || earlier.component < 0 || begin.before.at(earlier.component) >= earlier.time) return;
    complain(fmt::format("nothing orders '{}', which {}, and '{}', which {} the same bytes",
                         earlier.label, did, now.label, access.writes ? "writes" : "reads"));
  };
  check(cell.write, "writes");
  if (access.writes) {
    for (auto const& read : cell.reads) check(read, "reads");
    cell.write = now;
    cell.reads.clear();
    return;
  }
  std::erase_if(cell.reads, [&](Moment const& read) { return read.component == now.component; });
  cell.reads.push_back(now);
}

void Accesses::add(MemoryAccess const& access, Mark const& begin, Mark const& end,
                   std::string const& label) {
  auto const& range = access.range;
  if (range.bytes <= 0) return;
  cut(range.first);
  cut(range.last());
  fill_gaps(range);
  Moment const now{end.component, end.time, label};
  for (auto cell = m_cells.lower_bound(range.first);
       cell != m_cells.end() && cell->first < range.last(); ++cell)
    touch(cell->second, access, begin, now);
}

void Accesses::forget(AddressRange const& range) {
  cut(range.first);
  cut(range.last());
  m_cells.erase(m_cells.lower_bound(range.first), m_cells.lower_bound(range.last()));
}

}  // namespace spillway::test::cuda
