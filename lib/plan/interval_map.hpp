// A value per byte, kept as maximal pieces of [0, 2^63). Bytes never assigned hold Cell{}.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace spillway {

template <class Cell>
class IntervalMap {
 public:
  // visit(first, last, Cell const&) for the pieces of [first, last), in order.
  template <class Visit>
  void visit(std::int64_t first, std::int64_t last, Visit&& visit) const {
    auto piece = m_pieces.upper_bound(first);
    if (piece != m_pieces.begin() && std::prev(piece)->second.last > first) --piece;
    while (first < last) {
      if (piece == m_pieces.end() || piece->first >= last) return visit(first, last, Cell{});
      if (piece->first > first) visit(first, piece->first, Cell{});
      first = std::max(first, piece->first);
      std::int64_t const end = std::min(last, piece->second.last);
      visit(first, end, piece->second.cell);
      first = end;
      ++piece;
    }
  }

  // change(Cell&) for the pieces of [first, last), cut at its ends.
  template <class Change>
  void update(std::int64_t first, std::int64_t last, Change&& change) {
    if (first >= last) return;
    cut(first);
    cut(last);
    auto piece = m_pieces.lower_bound(first);
    while (first < last) {
      if (piece == m_pieces.end() || piece->first > first) {
        std::int64_t const end = piece == m_pieces.end() ? last : std::min(last, piece->first);
        piece = m_pieces.emplace_hint(piece, first, Piece{end, Cell{}});
      }
      change(piece->second.cell);
      first = piece->second.last;
      ++piece;
    }
  }

  void assign(std::int64_t first, std::int64_t last, Cell cell) {
    if (first >= last) return;
    cut(first);
    cut(last);
    m_pieces.erase(m_pieces.lower_bound(first), m_pieces.lower_bound(last));
    m_pieces.emplace(first, Piece{last, std::move(cell)});
  }

 private:
  struct Piece {
    std::int64_t last;
    Cell cell;
  };

  // Makes `at` a border.
  void cut(std::int64_t at) {
    auto const after = m_pieces.lower_bound(at);
    if (after == m_pieces.begin()) return;
    auto const piece = std::prev(after);
    if (piece->second.last <= at) return;
    m_pieces.emplace_hint(after, at, Piece{piece->second.last, piece->second.cell});
    piece->second.last = at;
  }

  std::map<std::int64_t, Piece> m_pieces;  // by first byte; disjoint
};

}  // namespace spillway
