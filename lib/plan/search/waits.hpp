// Lists what a job waits for, without an allocation in the usual case: the search makes very many
// such lists.
#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

namespace spillway {

// Holds the jobs that another job waits for. A job of -1 means none and is ignored.
class Waits {
 public:
  Waits(std::initializer_list<int> jobs) {
    for (int const job : jobs) push_back(job);
  }
  void push_back(int job) {
    if (job < 0) return;
    if (m_few.count < m_few.jobs.size())
      m_few.jobs[m_few.count++] = job;
    else
      push_back_to_all(job);
  }
  void clear() {
    m_few.count = 0;
    m_all.clear();
  }
  operator std::span<int const>() const {
    if (m_all.empty()) return {m_few.jobs.data(), m_few.count};
    return m_all;
  }

 private:
  void push_back_to_all(int job);

  struct Few {
    std::array<int, 32> jobs;
    std::size_t count = 0;
  };
  Few m_few;
  std::vector<int> m_all;  // all jobs where they are more than `m_few` has room for, else empty
};

}  // namespace spillway
