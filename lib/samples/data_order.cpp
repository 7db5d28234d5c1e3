#include "samples/data_order.hpp"

#include <stdexcept>

#include "base/permutation.hpp"

namespace spillway {

DataOrder::DataOrder(std::int64_t windows, std::uint64_t seed, OrderBegin begin)
    : m_windows(windows), m_seed(seed), m_begin(begin) {
  if (windows < 1) throw std::logic_error("data order: a text without a window");
}

Sample DataOrder::sample(std::int64_t global_sample) const {
  auto const own = global_sample - m_begin.sample;
  if (own < 0) throw std::logic_error("data order: a sample before its first");
  std::int64_t const epoch = m_begin.epoch + own / m_windows;
  Permutation const order(m_windows, m_seed, static_cast<std::uint64_t>(epoch));
  return {epoch, order(own % m_windows)};
}

}  // namespace spillway
