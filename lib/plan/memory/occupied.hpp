// Knows which bytes of an arena are taken during which items, for first fit to ask again and again.
// The time of both operations is about the logarithm of the number of items, whatever the number of
// stays, as long as what is taken leaves few gaps.
#pragma once

#include <vector>

#include "plan/memory/lifetime.hpp"

namespace spillway {

// A set of bytes, as disjoint ranges in ascending order that do not touch.
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
  struct Taken {
    std::int64_t first, last;  // bytes [first, last)
    ItemNumber since, until;
  };
  // A binary tree over the items has leaves of kItems of them each. Node 1 is the root, and the
  // children of node n are 2 n and 2 n + 1.
  struct Node {
    ByteUnion whole;  // bytes of stays that last for all of the node, but not of its parent
    ByteUnion
        any;  // those in `whole` here or below, and those of stays that begin or end in this node
  };
  static constexpr ItemNumber kItems = 64;
  static std::size_t leaf_of(ItemNumber item) { return static_cast<std::size_t>(item / kItems); }
  static std::int64_t first_free(std::vector<Taken> const& taken, Stay const& stay,
                                 std::int64_t alignment, std::int64_t offset);
  template <class Path, class Inside>
  void walk(Stay const& stay, Path path, Inside inside) const;

  std::size_t m_leaves;  // a power of two
  std::vector<Node> m_nodes;
  std::vector<std::vector<Taken>>
      m_partly;  // per leaf: stays that begin or end in it, by first byte
};

}  // namespace spillway
