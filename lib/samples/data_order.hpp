// A DataOrder says which window of a text a sample is. Windows are shuffled anew in each epoch.
// Nothing but the number of the sample decides, so an order needs no other state.
#pragma once

#include <cstdint>
#include <vector>

#include "samples/mix.hpp"

namespace spillway {

struct Sample {
  std::int64_t epoch;   // of the part of the text that has the window
  std::int64_t window;  // the number of a window, in [0, windows())
};

// An OrderBegin says with which sample of the run an order begins. This sample is the first one of
// the epoch `epoch`.
struct OrderBegin {
  std::int64_t sample = 0, epoch = 0;
};

// A part of a text with so many windows, of which `share` samples of each block are (Mix).
struct MixedPart {
  std::int64_t share = 1, windows = 0;
};

class DataOrder {
 public:
  // Throws std::logic_error if the text has no window.
  DataOrder(std::int64_t windows, std::uint64_t seed, OrderBegin begin = {});
  // Mixes the parts of a text, whose windows are numbered one part after the other. Each part has
  // epochs of its own. Throws std::logic_error if a part has no window or no share.
  DataOrder(std::vector<MixedPart> const& parts, std::uint64_t seed, OrderBegin begin = {});

  std::int64_t windows() const { return m_ends.back(); }  // how many windows the text has

  // `global_sample` counts samples of all ranks since the beginning of the run. Throws
  // std::logic_error if it comes before the first sample of the order.
  Sample sample(std::int64_t global_sample) const;

 private:
  Mix m_mix;
  std::vector<std::int64_t> m_ends;  // the number behind the last window of each part
  std::uint64_t m_seed;
  OrderBegin m_begin;
};

}  // namespace spillway
