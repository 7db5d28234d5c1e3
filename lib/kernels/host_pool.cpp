#include "kernels/host_pool.hpp"

#include <pthread.h>

#include "base/cannot_start.hpp"

namespace spillway {

HostPool::HostPool(int threads) {
  try {
    start(threads - 1);
  } catch (std::system_error const& error) {
    stop();  // ends the helpers that did start; the destructor of m_helpers joins them
    throw cannot_start("run.host_threads", std::ssize(m_helpers) + 1, threads, error);
  } catch (...) {
    stop();
    throw;
  }
}

HostPool::~HostPool() {
  stop();
}

void HostPool::start(int helpers) {
  for (int i = 0; i < helpers; ++i) {
    auto& helper = m_helpers.emplace_back([this] { help(); });
    pthread_setname_np(helper.native_handle(), "host");
  }
}

void HostPool::stop() {
  m_over = true;
  ++m_bell;
  m_bell.wake_all();
}

void HostPool::run_job(Job const& job) {
  m_job = job;
  m_next = 0;
  bool const alone = m_helpers.empty() || job.pieces < 2;
  if (alone) return take_pieces();
  m_joined = kOpen;
  ++m_bell;
  m_bell.wake_all();
  take_pieces();
  auto joined = m_joined.fetch_and(~kOpen) & ~kOpen;
  for (; joined != 0; joined = m_joined.load()) m_joined.sleep_while(joined);
}

void HostPool::help() {
  for (auto heard = m_bell.load(); !m_over; heard = m_bell.load()) {
    if (join()) {
      take_pieces();
      leave();
    }
    m_bell.sleep_while(heard);
  }
}

bool HostPool::join() {
  auto joined = m_joined.load();
  while ((joined & kOpen) != 0)
    if (m_joined.compare_exchange_weak(joined, joined + 1)) return true;
  return false;
}

void HostPool::leave() {
  if (m_joined.fetch_sub(1) == 1) m_joined.wake_one();  // the last helper wakes the caller of `run`
}

void HostPool::take_pieces() {
  while (true) {
    auto const piece = m_next.fetch_add(1);
    if (piece >= m_job.pieces) return;
    m_job.call(m_job.work, piece);
  }
}

}  // namespace spillway
