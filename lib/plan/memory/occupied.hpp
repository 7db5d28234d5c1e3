// An Occupied records which bytes of an arena are taken during which items. Layout calls both of
// its operations often, so their time grows with the logarithm of the number of items and does not
// depend on the number of stays, if the taken bytes leave few gaps. No gap is looked at twice.
#pragma once

#include <span>
#include <vector>

#include "plan/memory/lifetime.hpp"

namespace spillway {

// A ByteUnion is a set of bytes: ranges in ascending order that neither overlap nor touch.
class ByteUnion {
 public:
  std::span<ByteRange const> ranges() const { return m_ranges; }
  void add(std::int64_t first, std::int64_t last);

 private:
  std::vector<ByteRange> m_ranges;
};

class Occupied {
 public:
  explicit Occupied(std::size_t items);

  // Returns the lowest offset, from `offset` on, at which no taken bytes are in the way of any of
  // the stays. The result and `offset` are multiples of `alignment`.
  std::int64_t first_free(std::span<Stay const> stays, std::int64_t alignment,
                          std::int64_t offset) const;
  void take(Stay const& stay, std::int64_t offset);

 private:
  // A Node is part of a binary tree over the items. Each leaf stands for kItems items. Node 1 is
  // the root, and the children of node n are 2 n and 2 n + 1.
  struct Node {
    ByteUnion whole;  // the bytes of stays that cover this node but not its parent
    ByteUnion any;    // the bytes of stays that begin or end in this node, or are in `whole`
  };
  // Obstacles are what may be in the way of one of the stays for which a place is sought.
  template <class Taken>
  struct Obstacles {
    std::span<Taken const> taken;  // in the order of their offsets
    Stay const* stay;
  };
  static std::int64_t pass(Obstacles<ByteRange>& obstacles, std::int64_t alignment,
                           std::int64_t offset);
  static std::int64_t pass(Obstacles<Stay>& obstacles, std::int64_t alignment, std::int64_t offset);

  static constexpr ItemNumber kItems = 64;
  static std::size_t leaf_of(ItemNumber item) { return static_cast<std::size_t>(item / kItems); }
  template <class Path, class Inside>
  void walk(Stay const& stay, Path path, Inside inside) const;

  std::size_t m_leaves;  // the number of leaves, which is a power of two
  std::vector<Node> m_nodes;
  // This list has, for each leaf, the stays that begin or end in it, in the order of their offsets.
  std::vector<std::vector<Stay>> m_partly;
};

}  // namespace spillway
