#include "tests/support/cuda/orders_seen.hpp"

#include <algorithm>

namespace spillway::test::cuda {
namespace {

OrdersSeen* g_collected = nullptr;

}  // namespace

void OrdersSeen::note(std::size_t first, std::size_t second, std::size_t items, bool free) {
  m_pairs.resize(items * items);
  auto& pair = m_pairs[std::max(first, second) * items + std::min(first, second)];
  if (free) pair |= kFree;
  pair |= first < second ? kForward : kBackward;
}

std::size_t OrdersSeen::count(std::uint8_t bits) const {
  return static_cast<std::size_t>(
      std::ranges::count_if(m_pairs, [&](auto pair) { return (pair & bits) == bits; }));
}

double OrdersSeen::share_of_both() const {
  auto const both = count(kFree | kForward | kBackward);
  return static_cast<double>(both) / static_cast<double>(std::max<std::size_t>(1, free_pairs()));
}

void collect_orders(OrdersSeen* orders) {
  g_collected = orders;
}

OrdersSeen* collected_orders() {
  return g_collected;
}

}  // namespace spillway::test::cuda
