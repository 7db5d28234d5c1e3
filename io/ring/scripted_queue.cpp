#include "io/ring/scripted_queue.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace spillway {
namespace {

// `next` asks the script this many times before it sleeps, since the script's answers need not
// depend on time.
constexpr int kEagerRounds = 20;
constexpr std::chrono::duration<double> kNap(0.001);

std::int64_t moved(TransferRequest const& rest, TransferEnding const& ending) {
  auto const bytes = std::min(rest.memory.size(), static_cast<std::size_t>(ending.bytes));
  bool const reads = rest.direction == Direction::read;
  if (ending.damaged && !reads) return static_cast<std::int64_t>(bytes);
  auto const moved = reads ? ::pread(rest.file, rest.memory.data(), bytes, rest.offset_bytes)
                           : ::pwrite(rest.file, rest.memory.data(), bytes, rest.offset_bytes);
  if (moved < 0) return -errno;
  if (ending.damaged && moved > 0) rest.memory[static_cast<std::size_t>(moved) / 2] ^= std::byte{4};
  return moved;
}

}  // namespace

ScriptedQueue::ScriptedQueue(int depth, std::uint64_t seed, Script script)
    : TransferQueue(depth),
      m_random(static_cast<std::minstd_rand::result_type>(seed)),
      m_script(std::move(script)) {
  m_asked.reserve(static_cast<std::size_t>(depth));
}

void ScriptedQueue::wake() noexcept {
  {
    std::lock_guard const lock(m_mutex);
    m_woken = true;
  }
  m_wake.notify_one();
}

void ScriptedQueue::start(int operation, TransferRequest const& rest) noexcept {
  m_asked.emplace_back(operation, rest);
}

std::optional<TransferQueue::Outcome> ScriptedQueue::next(double timeout_s) noexcept {
  auto const end = SteadyClock::now() + std::chrono::duration<double>(timeout_s);
  for (int round = 0;; ++round) {
    if (auto const outcome = ended()) return outcome;
    auto const now = SteadyClock::now();
    auto const nap = round < kEagerRounds ? now : std::min(now + kNap, end);
    std::unique_lock lock(m_mutex);
    bool const woken = m_wake.wait_until(lock, nap, [this] { return m_woken; });
    m_woken = false;
    if (woken || now >= end) return {};
  }
}

// Returns the outcome of an operation that the script lets end now, chosen at random, or nothing if
// there is none.
std::optional<TransferQueue::Outcome> ScriptedQueue::ended() {
  for (auto i = m_asked.size(); i-- > 0;) {
    std::swap(m_asked[m_random() % (i + 1)], m_asked[i]);
    auto const [operation, rest] = m_asked[i];
    auto const ending = m_script(rest);
    if (!ending) continue;
    std::swap(m_asked[i], m_asked.back());
    m_asked.pop_back();
    return Outcome{operation, ending->bytes < 0 ? ending->bytes : moved(rest, *ending)};
  }
  return {};
}

}  // namespace spillway
