#include "io/ring/slow_storage.hpp"

#include <algorithm>

namespace spillway {
namespace {

constexpr double kSlowBytesPerS = 20e6;  // docs/keys.md names this rate

}  // namespace

SlowStorage::SlowStorage(int depth, std::int64_t nth, double bytes_per_s)
    : m_left(nth - 1), m_bytes_per_s(bytes_per_s), m_due(static_cast<std::size_t>(depth)) {}

std::optional<TransferEnding> SlowStorage::operator()(TransferRequest const& rest) {
  auto& when = m_due.at(rest.tag);
  if (!when) when = due(rest);
  if (SteadyClock::now() < *when) return {};
  when.reset();
  return TransferEnding(std::ssize(rest.memory));
}

SteadyClock::time_point SlowStorage::due(TransferRequest const& rest) {
  auto const now = SteadyClock::now();
  if (m_left > 0) {
    --m_left;
    return now;
  }
  std::chrono::duration<double> const time(static_cast<double>(rest.memory.size()) / m_bytes_per_s);
  m_free_at = std::max(m_free_at, now) + std::chrono::duration_cast<SteadyClock::duration>(time);
  return m_free_at;
}

std::unique_ptr<TransferQueue> make_slow_queue(int depth, std::int64_t nth) {
  return std::make_unique<ScriptedQueue>(depth, 1, SlowStorage(depth, nth, kSlowBytesPerS));
}

}  // namespace spillway
