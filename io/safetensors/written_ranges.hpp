// Keeps track of which elements of a tensor have been written.
#pragma once

#include <cstdint>
#include <map>

namespace spillway {

// Adjacent ranges are kept as one, so there are few ranges if elements are written in order.
class WrittenRanges {
 public:
  // Adds elements [first, end). Returns false, and adds nothing, if one of them was added before.
  bool add(std::int64_t first, std::int64_t end);
  // Returns whether all elements [0, count) have been added.
  bool cover(std::int64_t count) const;

 private:
  std::map<std::int64_t, std::int64_t> m_ends;  // maps the first element of each range to its end
};

}  // namespace spillway
