// Simulates storage that becomes slow, for tests and the key `debug.fault` of the input file.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/steady_clock.hpp"
#include "io/ring/scripted_queue.hpp"

namespace spillway {

// A SlowStorage delays the ends of operations from the n-th on, so that operations pass one after
// another at `bytes_per_s`. Its calls never sleep. The tags of requests must be below `depth`.
class SlowStorage {
 public:
  SlowStorage(int depth, std::int64_t nth, double bytes_per_s);

  std::optional<TransferEnding> operator()(TransferRequest const& rest);

 private:
  SteadyClock::time_point due(TransferRequest const& rest);

  std::int64_t m_left;  // how many more operations are not delayed
  double m_bytes_per_s;
  SteadyClock::time_point m_free_at;                          // when the last delayed transfer ends
  std::vector<std::optional<SteadyClock::time_point>> m_due;  // when each transfer ends, by tag
};

std::unique_ptr<TransferQueue> make_slow_queue(int depth, std::int64_t nth);

}  // namespace spillway
