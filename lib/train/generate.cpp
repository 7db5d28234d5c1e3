#include "train/generate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/philox.hpp"

namespace spillway {

void GenerateBatch::load(std::int64_t, std::int64_t, BatchBuffers const& to) {
  auto const count = std::min<std::int64_t>(m_sequence, static_cast<std::int64_t>(tokens.size()));
  to.require_one_stack();
  auto const window = to.get<BatchField::tokens>();
  auto const after = std::ranges::copy(tokens.end() - count, tokens.end(), window.begin()).out;
  std::fill(after, window.end(), 0);  // after the row that is picked: unseen
  std::ranges::fill(to.get<BatchField::documents>(), 0);
  auto const positions = to.get<BatchField::positions>();
  std::iota(positions.begin(), positions.end(), 0);
  std::ranges::fill(to.get<BatchField::token_types>(), 0);
  to.get<BatchField::position>()[0] = static_cast<std::int32_t>(count - 1);
  std::ranges::fill(to.get<BatchField::samples>(), 0);
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
