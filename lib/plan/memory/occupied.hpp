// Which bytes of an arena are taken when: what first fit asks again and again. Both operations take
// a logarithm of the items, however many stays there are, as long as what is taken leaves few gaps.
#pragma once

#include <vector>

#include "plan/memory/lifetime.hpp"

namespace spillway {

// Disjoint ranges of bytes, ascending; what touches is one.
class ByteUnion {
 public:
  bool empty() const { return m_ranges.empty(); }
  void add(std::int64_t first, std::int64_t last);
  // The lowest offset, from `offset` on, at which the stay's bytes meet none of them.
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

  // The lowest offset from `offset` on, which is a multiple of `alignment` as the result is, at
  // which nothing is in the way of a stay.
  std::int64_t first_free(Stay const& stay, std::int64_t alignment, std::int64_t offset) const;
  void take(Stay const& stay, std::int64_t offset);

 private:
  // A stay that begins or ends among a leaf's items.
  struct Taken {
    std::int64_t first, last;  // bytes
    ItemNumber since, until;
  };
  // A binary tree over the items; its leaves are kItems of them each. Node 1 is the root, the
  // children of n are 2 n and 2 n + 1.
  struct Node {
    ByteUnion whole;  // of stays that last for all of it, but not for all of its parent
    ByteUnion any;    // of stays that begin or end in it, or are in `whole`, here or below
  };
  static constexpr ItemNumber kItems = 64;
  static std::size_t leaf_of(ItemNumber item) { return static_cast<std::size_t>(item / kItems); }
  static std::int64_t first_free(std::vector<Taken> const& taken, Stay const& stay,
                                 std::int64_t alignment, std::int64_t offset);
  template <class Path, class Inside>
  void walk(Stay const& stay, Path path, Inside inside) const;

  std::size_t m_leaves;  // a power of two
  std::vector<Node> m_nodes;
  std::vector<std::vector<Taken>> m_partly;  // per leaf: by first byte
};

}  // namespace spillway
