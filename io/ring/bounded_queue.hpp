// A BoundedQueue is a first-in, first-out queue of limited length. Only its constructor allocates.
#pragma once

#include <cstddef>
#include <vector>

#include "base/check.hpp"

namespace spillway {

template <class T>
class BoundedQueue {
 public:
  explicit BoundedQueue(std::size_t most) : m_entries(most) {}

  bool empty() const { return m_count == 0; }
  bool full() const { return m_count == m_entries.size(); }
  T& front() { return m_entries[m_first]; }
  void push(T const& entry) {
    check(!full(), "a bounded queue", "is full");
    m_entries[(m_first + m_count++) % m_entries.size()] = entry;
  }
  T pop() {
    check(!empty(), "a bounded queue", "is empty");
    auto const entry = m_entries[m_first];
    m_first = (m_first + 1) % m_entries.size();
    --m_count;
    return entry;
  }

 private:
  std::vector<T> m_entries;
  std::size_t m_first = 0, m_count = 0;
};

}  // namespace spillway
