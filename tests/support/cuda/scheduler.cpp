#include "tests/support/cuda/scheduler.hpp"

#include <thread>

namespace spillway::test::cuda {

void Scheduler::serve(std::unique_lock<std::mutex>& lock, Demand& demand) {
  if (!m_started) {  // it lives as long as the process, as libraries keep things of a thread
    m_started = true;
    std::thread([this, &mutex = *lock.mutex()] { loop(mutex); }).detach();
  }
  m_changed.wait(lock, [&] { return m_demand == nullptr; });
  m_demand = &demand;
  m_changed.notify_all();
  m_changed.wait(lock, [&] { return demand.ended; });
}

void Scheduler::loop(std::mutex& mutex) {
  std::unique_lock lock(mutex);
  for (;;) {
    m_changed.wait(lock, [&] { return m_demand != nullptr; });
    for (std::int64_t n = 0; n != m_demand->most && !m_demand->met(); ++n) {
      if (m_decide(m_demand->wanted)) continue;
      m_demand->dry = true;
      break;
    }
    m_demand->ended = true;
    m_demand = nullptr;
    m_changed.notify_all();
  }
}

}  // namespace spillway::test::cuda
