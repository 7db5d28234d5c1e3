// Storage that becomes slow: what a ScriptedQueue is told where `debug.fault` asks for it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/steady_clock.hpp"
#include "io/ring/scripted_queue.hpp"

namespace spillway {

// Sound and undelayed up to the n-th operation. From there on operations pass one after the other
// at `bytes_per_s`, and nobody sleeps for them who has something else to do. Tags are below
// `depth`.
class SlowStorage {
 public:
  SlowStorage(int depth, std::int64_t nth, double bytes_per_s);

  std::optional<TransferFate> operator()(TransferRequest const& rest);

 private:
  SteadyClock::time_point due(TransferRequest const& rest);

  std::int64_t m_left;  // undelayed ones
  double m_bytes_per_s;
  SteadyClock::time_point m_free_at;                          // when the last of them has passed
  std::vector<std::optional<SteadyClock::time_point>> m_due;  // by tag, of those under way
};

std::unique_ptr<TransferQueue> make_slow_queue(int depth, std::int64_t nth);

}  // namespace spillway
