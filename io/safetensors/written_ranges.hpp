// Which elements of a tensor have been written.
#pragma once

#include <cstdint>
#include <map>

namespace spillway {

// Keeps one range for neighbours that touch: few, where writing has an order.
class WrittenRanges {
 public:
  // False, and nothing is added: a part of [first, last) is there already.
  bool add(std::int64_t first, std::int64_t last);
  // Whether all of [0, count) is there.
  bool cover(std::int64_t count) const;

 private:
  std::map<std::int64_t, std::int64_t> m_ends;  // by first element
};

}  // namespace spillway
