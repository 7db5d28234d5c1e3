#include "plan/memory/occupied.hpp"

#include <algorithm>
#include <bit>

#include "base/math.hpp"

namespace spillway {

void ByteUnion::add(std::int64_t first, std::int64_t last) {
  auto const begin = std::ranges::lower_bound(m_ranges, first, {}, &ByteRange::last);
  if (begin == m_ranges.end() || last < begin->first) {
    m_ranges.insert(begin, {first, last});
    return;
  }
  auto end = begin;
  for (; end != m_ranges.end() && end->first <= last; ++end) {
    first = std::min(first, end->first);
    last = std::max(last, end->last);
  }
  *begin = {first, last};
  m_ranges.erase(begin + 1, end);
}

Occupied::Occupied(std::size_t items)
    : m_leaves(std::bit_ceil(items / kItems + 1)), m_nodes(2 * m_leaves), m_partly(m_leaves) {}

// Walks up the tree from the leaves of a stay's first and last item to the root. Calls `path` for
// the nodes on these two paths, and `inside` for the largest nodes between them.
template <class Path, class Inside>
void Occupied::walk(Stay const& stay, Path path, Inside inside) const {
  auto left = m_leaves + leaf_of(stay.first), right = m_leaves + leaf_of(stay.last);
  for (bool apart = left != right; left > 0; left /= 2, right /= 2) {
    path(left);
    if (left != right) path(right);
    apart = apart && (left ^ right) != 1;
    if (!apart) continue;
    if (left % 2 == 0) inside(left + 1);
    if (right % 2 == 1) inside(right - 1);
  }
}

// These functions raise `offset` until none of the obstacles are in the way of their stay. They
// drop what lies below it from the list, since an offset that rises never comes back there.
std::int64_t Occupied::pass(Obstacles<ByteRange>& obstacles, std::int64_t alignment,
                            std::int64_t offset) {
  auto& [ranges, stay] = obstacles;
  if (ranges.empty() || ranges.front().first >= offset + stay->last_byte) return offset;
  auto range = std::ranges::upper_bound(ranges, offset + stay->first_byte, {}, &ByteRange::last);
  for (; range != ranges.end() && range->first < offset + stay->last_byte; ++range)
    offset = std::max(offset, round_up(range->last - stay->first_byte, alignment));
  ranges = {range, ranges.end()};
  return offset;
}

std::int64_t Occupied::pass(Obstacles<Stay>& obstacles, std::int64_t alignment,
                            std::int64_t offset) {
  auto& [taken, stay] = obstacles;
  auto t = taken.begin();
  for (; t != taken.end() && t->first_byte < offset + stay->last_byte; ++t) {
    if (t->last_byte > offset + stay->first_byte && t->meets(*stay))
      offset = round_up(t->last_byte - stay->first_byte, alignment);
  }
  taken = {t, taken.end()};
  return offset;
}

// A taken stay can be in the way of another one in three cases: it begins or ends in a leaf where
// that begins or ends, it covers a node on the path of that, or that covers a node that it uses.
std::int64_t Occupied::first_free(std::span<Stay const> stays, std::int64_t alignment,
                                  std::int64_t offset) const {
  std::vector<Obstacles<ByteRange>> whole;
  std::vector<Obstacles<Stay>> partly;
  whole.reserve(8 * stays.size());
  partly.reserve(2 * stays.size());
  for (Stay const& stay : stays) {
    auto const note = [&](ByteUnion const& bytes) {
      if (!bytes.ranges().empty()) whole.push_back({bytes.ranges(), &stay});
    };
    walk(
        stay, [&](std::size_t node) { note(m_nodes[node].whole); },
        [&](std::size_t node) { note(m_nodes[node].any); });
    auto const first = leaf_of(stay.first), last = leaf_of(stay.last);
    partly.push_back({m_partly[first], &stay});
    if (last != first) partly.push_back({m_partly[last], &stay});
  }
  for (std::int64_t before = -1; before != offset;) {
    before = offset;
    for (auto& obstacles : partly) offset = pass(obstacles, alignment, offset);
    for (auto& obstacles : whole) offset = pass(obstacles, alignment, offset);
  }
  return offset;
}

void Occupied::take(Stay const& stay, std::int64_t offset) {
  Stay const taken{stay.first, stay.last, offset + stay.first_byte, offset + stay.last_byte};
  auto const note = [&](std::size_t leaf) {
    auto& all = m_partly[leaf];
    all.insert(std::ranges::upper_bound(all, taken.first_byte, {}, &Stay::first_byte), taken);
  };
  auto const first = leaf_of(taken.first), last = leaf_of(taken.last);
  note(first);
  if (last != first) note(last);
  auto const add = [&](ByteUnion& bytes) { bytes.add(taken.first_byte, taken.last_byte); };
  walk(
      taken, [&](std::size_t node) { add(m_nodes[node].any); },
      [&](std::size_t node) {
        add(m_nodes[node].any);
        add(m_nodes[node].whole);
      });
}

}  // namespace spillway
