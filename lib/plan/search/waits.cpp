#include "plan/search/waits.hpp"

namespace spillway {

void Waits::push_back_to_all(int job) {
  if (m_all.empty()) m_all.assign(m_few.jobs.begin(), m_few.jobs.end());
  m_all.push_back(job);
}

}  // namespace spillway
