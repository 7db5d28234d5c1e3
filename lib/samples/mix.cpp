#include "samples/mix.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/permutation.hpp"

namespace spillway {
namespace {

// Returns the shares of a block of `block` samples if the weights divide it, else nothing.
std::vector<std::int64_t> divided(std::span<double const> weights, double sum, std::int64_t block) {
  constexpr double rounding = 1e-9;  // of a number such as 0.7, times the block
  std::vector<std::int64_t> shares;
  for (auto const weight : weights) {
    auto const exact = weight / sum * static_cast<double>(block);
    auto const share = std::llround(exact);
    if (share < 1 || std::abs(exact - static_cast<double>(share)) > rounding * exact) return {};
    shares.push_back(share);
  }
  return shares;
}

std::vector<std::int64_t> by_largest_remainder(std::span<double const> weights, double sum) {
  std::vector<std::int64_t> shares;
  std::vector<double> remainders;
  for (auto const weight : weights) {
    auto const exact = weight / sum * static_cast<double>(kMostMixed);
    shares.push_back(static_cast<std::int64_t>(exact));
    remainders.push_back(exact - std::floor(exact));
  }
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return remainders[i]; });
  auto left = kMostMixed - std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
  for (auto const i : order)
    if (left-- > 0) ++shares[i];
  return shares;
}

}  // namespace

std::vector<std::int64_t> mix_shares(std::span<double const> weights) {
  auto const sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (auto block = std::ssize(weights); block <= kMostMixed; ++block)
    if (auto shares = divided(weights, sum, block); !shares.empty()) return shares;
  return by_largest_remainder(weights, sum);
}

// The constant keeps this order apart from those of windows, which have the seed of the run.
Mix::Mix(std::vector<std::int64_t> shares, std::uint64_t seed)
    : m_ends(std::move(shares)), m_seed(seed ^ 0x6d6978) {
  if (m_ends.empty() || std::ranges::min(m_ends) < 1)
    throw std::logic_error("mix: a text without a share");
  std::inclusive_scan(m_ends.begin(), m_ends.end(), m_ends.begin());
}

Mix::Draw Mix::draw(std::int64_t sample) const {
  auto const number = sample / block();
  auto const place =
      Permutation(block(), m_seed, static_cast<std::uint64_t>(number))(sample % block());
  auto const end = std::ranges::upper_bound(m_ends, place);
  auto const text = static_cast<std::size_t>(end - m_ends.begin());
  return {text, number * share(text) + place - first(text)};
}

}  // namespace spillway
