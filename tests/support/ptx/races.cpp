#include "tests/support/ptx/races.hpp"

#include <algorithm>
#include <bit>

namespace spillway::test::ptx {
namespace {

constexpr std::uint64_t kPageBytes = 1024;
constexpr unsigned kMostCellBits = 2;

unsigned cell_bits_for(unsigned bytes) {
  return std::min<unsigned>(static_cast<unsigned>(std::countr_zero(bytes)), kMostCellBits);
}

}  // namespace

inline bool Races::unordered(Stamp const& earlier, Toucher const& toucher) const {
  auto const& now = toucher.now;
  if (earlier.epoch < toucher.first_epoch)
    return m_blocks_race && earlier.epoch != 0 && (earlier.is_strong == 0 || now.is_strong == 0);
  if (earlier.is_strong != 0 && now.is_strong != 0) return false;
  if (earlier.warp != now.warp) return earlier.epoch >= (*toucher.past)[earlier.warp];
  return earlier.epoch == now.epoch && earlier.lane != now.lane &&
         (*toucher.seen)[earlier.lane] <= earlier.time;
}

// Returns how far apart two threads are that nothing orders: 3 if they are of two blocks, 2 of two
// warps, 1 of two lanes. Returns 0 if something orders them.
inline unsigned Races::distance(Stamp const& earlier, Toucher const& toucher) const {
  if (!unordered(earlier, toucher)) return 0;
  if (earlier.epoch < toucher.first_epoch) return 3;
  return earlier.warp != toucher.now.warp ? 2 : 1;
}

// Says whether a thread has made both accesses, with no barrier of its block between them.
inline bool is_own(Stamp const& earlier, Stamp const& now) {
  return earlier.epoch == now.epoch && earlier.warp == now.warp && earlier.lane == now.lane;
}

// Two readers are kept: the latest, and the one of the others that is farther from it. They are
// enough, because distances are those in a tree: no thread is farther from any reader than from one
// of these two. Barriers of some warps, or of some lanes, make no tree, so behind them a reader may
// be forgotten. An access counts as weak if its thread has just made a weak one, which it replaces.
inline std::optional<Race> Races::touch(Cell& cell, Toucher const& toucher) const {
  if (unordered(cell.write, toucher)) return Race{cell.write, true};
  auto& reads = cell.reads;
  auto const replace = [&](Stamp& stamp) {
    bool const was_weak = is_own(stamp, toucher.now) && stamp.is_strong == 0;
    stamp = toucher.now;
    if (was_weak) stamp.is_strong = 0;
  };
  if (!toucher.writes) {
    if (distance(reads[0], toucher) > distance(reads[1], toucher)) reads[1] = reads[0];
    replace(reads[0]);
    return {};
  }
  for (auto const& read : reads)
    if (unordered(read, toucher)) return Race{read, false};
  replace(cell.write);
  return {};
}

inline Races::Page& Races::page(std::uint64_t number, unsigned cell_bits) {
  auto& found = m_found[number % m_found.size()];
  if (number == found.number) return *found.page;
  auto& result = m_pages[number];
  if (result == nullptr)
    result = std::make_unique<Page>(Page{cell_bits, std::vector<Cell>(kPageBytes >> cell_bits)});
  found = {number, result.get()};
  return *result;
}

void Races::cut(Page& page, unsigned cell_bits) {
  std::vector<Cell> cells;
  for (auto const& cell : page.cells)
    cells.insert(cells.end(), std::size_t{1} << (page.cell_bits - cell_bits), cell);
  page = {cell_bits, std::move(cells)};
}

// An access is aligned to its size, so it never crosses the border of a page.
std::optional<Race> Races::touch(std::uint64_t address, unsigned bytes, Toucher const& toucher) {
  auto const cell_bits = cell_bits_for(bytes);
  auto& all = page(address / kPageBytes, cell_bits);
  if (cell_bits < all.cell_bits) cut(all, cell_bits);
  auto const first = address % kPageBytes >> all.cell_bits;
  for (unsigned i = 0; i < bytes >> all.cell_bits; ++i)
    if (auto const race = touch(all.cells[first + i], toucher)) return race;
  return {};
}

}  // namespace spillway::test::ptx
