#include "train/generate.hpp"

#include <algorithm>
#include <cmath>

#include "base/philox.hpp"

namespace spillway {

void GenerateBatch::load(std::int64_t, std::int64_t, BatchPointers const& to) {
  auto const count = std::min<std::int64_t>(m_sequence, static_cast<std::int64_t>(tokens.size()));
  std::copy_n(tokens.end() - count, count, to.tokens);
  std::fill_n(to.tokens + count, m_sequence - count, 0);  // after the row that is picked: unseen
  *to.position = static_cast<std::int32_t>(count - 1);
  if (to.samples != nullptr) *to.samples = 0;
}

std::int32_t sample_token(std::span<float const> logits, Sampling const& sampling,
                          std::uint64_t draw) {
  auto const likeliest = std::ranges::max_element(logits);
  if (sampling.temperature == 0) return static_cast<std::int32_t>(likeliest - logits.begin());
  std::vector<double> weights(logits.size());
  double total = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    weights[i] = std::exp((static_cast<double>(logits[i]) - *likeliest) / sampling.temperature);
    total += weights[i];
  }
  double left = total * uniform01(philox(sampling.seed, 0, draw).x[0]);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    left -= weights[i];
    if (left < 0) return static_cast<std::int32_t>(i);
  }
  return static_cast<std::int32_t>(likeliest - logits.begin());
}

}  // namespace spillway
