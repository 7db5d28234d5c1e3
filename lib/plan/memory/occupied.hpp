// Knows which bytes of an arena are taken during which items, which layout asks again and again.
// The time of both operations is about the logarithm of the number of items, whatever the number of
// stays, as long as what is taken leaves few gaps.
#pragma once

#include <vector>

#include "plan/memory/lifetime.hpp"

namespace spillway {

// Keeps a set of bytes as ranges in ascending order that neither overlap nor touch.
class ByteUnion {
 public:
  bool empty() const { return m_ranges.empty(); }
  void add(std::int64_t first, std::int64_t last);
  // Returns the lowest offset, from `offset` on, at which the stay's bytes are not in the set.
  std::int64_t first_free(Stay const& stay, std::int64_t alignment, std::int64_t offset) const;

 private:
  struct Range {
    std::int64_t first, last;
  };
  std::vector<Range> m_ranges;
};

class Occupied {
 public:
  explicit Occupied(std::size_t items);

  // Returns the lowest offset from `offset` on at which nothing is in the way of a stay. Both are
  // multiples of `alignment`.
  std::int64_t first_free(Stay const& stay, std::int64_t alignment, std::int64_t offset) const;
  void take(Stay const& stay, std::int64_t offset);

 private:
  // A binary tree over the items has leaves of kItems of them each. Node 1 is the root, and the
  // children of node n are 2 n and 2 n + 1.
  struct Node {
    ByteUnion whole;  // of stays that last for all of the node, but not of its parent
    ByteUnion any;    // of stays that begin or end in the node, or are in `whole` here or below
  };
  static constexpr ItemNumber kItems = 64;
  static std::size_t leaf_of(ItemNumber item) { return static_cast<std::size_t>(item / kItems); }
  static std::int64_t first_free(std::vector<Stay> const& taken, Stay const& stay,
                                 std::int64_t alignment, std::int64_t offset);
  template <class Path, class Inside>
  void walk(Stay const& stay, Path path, Inside inside) const;

  std::size_t m_leaves;  // a power of two
  std::vector<Node> m_nodes;
  // A leaf has the stays that begin or end in it, in the order of their first bytes in the arena.
  std::vector<std::vector<Stay>> m_partly;
};

}  // namespace spillway
