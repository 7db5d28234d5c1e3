// Records what threads of the host tell each other through counts that they publish and wait for.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tests/support/cuda/clock.hpp"

namespace spillway::test::cuda {

class Meetings {
 public:
  // These implement the functions of Order (order.hpp). A count is named by its address.
  void release(void const* count, std::uint64_t until, Clock const& known);
  void acquire(void const* count, std::uint64_t position, Component& by);
  void forget(void const* count) { m_counts.erase(count); }

  void drop(std::int64_t n) { m_dropped = n; }
  std::int64_t releases() const { return m_releases; }
  bool dropped_was_of_use() const { return m_dropped_was_of_use; }

 private:
  struct Release {
    std::uint64_t until;
    Clock known;   // what this release and earlier ones tell to threads that acquire it
    Clock hidden;  // what this release would tell if it were not dropped
  };
  std::unordered_map<void const*, std::vector<Release>> m_counts;  // each list sorted by `until`
  std::int64_t m_releases = 0, m_dropped = -1;
  bool m_dropped_was_of_use = false;
};

}  // namespace spillway::test::cuda
