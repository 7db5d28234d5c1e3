// Which window of a text a sample sees. The windows are shuffled anew in each epoch. The only state
// is the global sample index. An order that begins later in a run says with which sample and epoch.
#pragma once

#include <cstdint>

namespace spillway {

struct Sample {
  std::int64_t epoch;
  std::int64_t window;  // in [0, windows())
};

// Where an order begins: its first sample, which is the first one of an epoch.
struct OrderBegin {
  std::int64_t sample = 0, epoch = 0;
};

class DataOrder {
 public:
  // Of a text of at least one window. Throws std::logic_error for none.
  DataOrder(std::int64_t windows, std::uint64_t seed, OrderBegin begin = {});

  std::int64_t windows() const { return m_windows; }  // in one epoch

  // global_sample counts samples since the beginning of the run, over all ranks; none before the
  // order's first.
  Sample sample(std::int64_t global_sample) const;

 private:
  std::int64_t m_windows;
  std::uint64_t m_seed;
  OrderBegin m_begin;
};

}  // namespace spillway
