#include "samples/data_order.hpp"

#include <stdexcept>

#include "base/permutation.hpp"

namespace spillway {
namespace {

std::vector<std::int64_t> shares_of(std::vector<MixedPart> const& parts) {
  std::vector<std::int64_t> shares;
  for (auto const& part : parts) shares.push_back(part.share);
  return shares;
}

}  // namespace

DataOrder::DataOrder(std::int64_t windows, std::uint64_t seed, OrderBegin begin)
    : DataOrder(std::vector{MixedPart{1, windows}}, seed, begin) {}

DataOrder::DataOrder(std::vector<MixedPart> const& parts, std::uint64_t seed, OrderBegin begin)
    : m_mix(shares_of(parts), seed), m_seed(seed), m_begin(begin) {
  for (auto const& part : parts) {
    if (part.windows < 1) throw std::logic_error("data order: a text without a window");
    m_ends.push_back(part.windows + (m_ends.empty() ? 0 : m_ends.back()));
  }
}

Sample DataOrder::sample(std::int64_t global_sample) const {
  auto const own = global_sample - m_begin.sample;
  if (own < 0) throw std::logic_error("data order: a sample before its first");
  auto const [part, number] = m_mix.draw(own);
  auto const first = part == 0 ? 0 : m_ends[part - 1], windows = m_ends[part] - first;
  auto const epoch = m_begin.epoch + number / windows;
  Permutation const order(windows, m_seed, static_cast<std::uint64_t>(epoch));
  return {epoch, first + order(number % windows)};
}

}  // namespace spillway
