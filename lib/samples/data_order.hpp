// A DataOrder says which window of a text a sample is. Windows are shuffled anew in each epoch.
// Nothing but the number of the sample decides, so an order needs no other state.
#pragma once

#include <cstdint>

namespace spillway {

struct Sample {
  std::int64_t epoch;
  std::int64_t window;  // the number of a window, in [0, windows())
};

// An OrderBegin says with which sample of the run an order begins. This sample is the first one of
// the epoch `epoch`.
struct OrderBegin {
  std::int64_t sample = 0, epoch = 0;
};

class DataOrder {
 public:
  // Throws std::logic_error if the text has no window.
  DataOrder(std::int64_t windows, std::uint64_t seed, OrderBegin begin = {});

  std::int64_t windows() const { return m_windows; }  // how many windows an epoch has

  // `global_sample` counts samples of all ranks since the beginning of the run. Throws
  // std::logic_error if it comes before the first sample of the order.
  Sample sample(std::int64_t global_sample) const;

 private:
  std::int64_t m_windows;
  std::uint64_t m_seed;
  OrderBegin m_begin;
};

}  // namespace spillway
