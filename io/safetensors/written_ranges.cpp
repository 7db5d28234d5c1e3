#include "io/safetensors/written_ranges.hpp"

#include <iterator>

namespace spillway {

bool WrittenRanges::add(std::int64_t first, std::int64_t end) {
  if (first == end) return true;
  auto next = m_ends.lower_bound(first);
  if (next != m_ends.end() && next->first < end) return false;
  if (next != m_ends.begin()) {
    auto const before = std::prev(next);
    if (before->second > first) return false;
    if (before->second == first) {
      first = before->first;
      m_ends.erase(before);
    }
  }
  if (next != m_ends.end() && next->first == end) {
    end = next->second;
    m_ends.erase(next);
  }
  m_ends.emplace(first, end);
  return true;
}

bool WrittenRanges::cover(std::int64_t count) const {
  if (count == 0) return true;
  return m_ends.size() == 1 && m_ends.begin()->first == 0 && m_ends.begin()->second == count;
}

}  // namespace spillway
