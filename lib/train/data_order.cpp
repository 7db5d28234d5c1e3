#include "train/data_order.hpp"

#include <fmt/core.h>

#include <cassert>
#include <stdexcept>

#include "base/error.hpp"
#include "base/permutation.hpp"

namespace spillway {

DataOrder::DataOrder(std::int64_t tokens, std::int64_t sequence, std::uint64_t seed,
                     OrderBegin begin)
    : m_sequence(sequence), m_windows((tokens - 1) / sequence), m_seed(seed), m_begin(begin) {
  assert(sequence >= 1);
  if (tokens <= sequence) {
    throw Error(
        Status::bad_input,
        fmt::format("data.sequence: {} needs at least {} tokens, the data has {}; give more "
                    "text or a shorter sequence",
                    sequence, sequence + 1, tokens));
  }
}

Sample DataOrder::sample(std::int64_t global_sample) const {
  auto const own = global_sample - m_begin.sample;
  if (own < 0) throw std::logic_error("data order: a sample before its first");
  std::int64_t const epoch = m_begin.epoch + own / m_windows;
  Permutation const order(m_windows, m_seed, static_cast<std::uint64_t>(epoch));
  return {epoch, order(own % m_windows)};
}

}  // namespace spillway
