// Which tokens a sample sees. A token range is cut into windows of sequence + 1 tokens at stride
// sequence (the last token of one window is the first of the next: it is a target there, an input
// here). The windows are shuffled anew in each epoch. The only state is the global sample index.
// An order that begins later in a run says with which sample and epoch.
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
  // Throws Error(bad_input) when `tokens` do not fill one window.
  DataOrder(std::int64_t tokens, std::int64_t sequence, std::uint64_t seed, OrderBegin begin = {});

  std::int64_t windows() const { return m_windows; }  // in one epoch
  std::int64_t sequence() const { return m_sequence; }

  // global_sample counts samples since the beginning of the run, over all ranks; none before the
  // order's first.
  Sample sample(std::int64_t global_sample) const;

  // The window's first token; it has sequence + 1 of them.
  std::int64_t first_token(std::int64_t window) const { return window * m_sequence; }

 private:
  std::int64_t m_sequence, m_windows;
  std::uint64_t m_seed;
  OrderBegin m_begin;
};

}  // namespace spillway
