// LiveCounters say how many bytes of each tier are in use when compute is at an item.
#pragma once

#include <functional>

#include "plan/data/program.hpp"
#include "plan/memory/lifetime.hpp"

namespace spillway {

// The bytes in use are those of the Program's lifetimes, which are ranges of the total order. The
// compute lane tells where in that order a step is.
class LiveCounters {
 public:
  explicit LiveCounters(Program const& program);

  void begin_step();
  // Passes the items of a step in total order. Other lanes' items count with the next item of the
  // compute lane, so that no peak is missed.
  void pass(ItemNumber item);
  // Calls tell(tier, bytes) for each tier that has buffers and whose bytes in use have changed in
  // this step. Bytes are the most since the last call.
  void tell(std::function<void(Tier, std::int64_t)> const& tell);

 private:
  PerTier<IdVector<std::int64_t>> m_live;
  TierBytes m_most{}, m_told{};
};

}  // namespace spillway
