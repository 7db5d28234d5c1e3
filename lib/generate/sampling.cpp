#include "generate/sampling.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include "base/philox.hpp"

namespace spillway {
namespace {

// Sets the weights of all tokens to 0 that top_k or top_p leaves out. Of equally likely tokens the
// one with the higher id is left out first. The likeliest token stays.
void leave_out(std::vector<double>& weights, Sampling const& sampling) {
  std::vector<std::size_t> order(weights.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater<>(), [&](std::size_t i) { return weights[i]; });
  auto kept = order.size();
  if (sampling.top_k > 0) kept = std::min(kept, static_cast<std::size_t>(sampling.top_k));
  double total = 0, sum = 0;
  for (std::size_t i = 0; i < kept; ++i) total += weights[order[i]];
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i >= kept || (i > 0 && sum >= sampling.top_p * total)) weights[order[i]] = 0;
    sum += weights[order[i]];
  }
}

}  // namespace

std::int32_t sample_token(std::span<float const> logits, Sampling const& sampling,
                          std::uint64_t draw) {
  auto const likeliest = std::ranges::max_element(logits);
  if (sampling.temperature == 0) return static_cast<std::int32_t>(likeliest - logits.begin());
  std::vector<double> weights(logits.size());
  double total = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    weights[i] = std::exp((static_cast<double>(logits[i]) - *likeliest) / sampling.temperature);
  }
  if (sampling.top_k > 0 || sampling.top_p < 1) leave_out(weights, sampling);
  for (auto const weight : weights) total += weight;
  double left = total * uniform01(philox(sampling.seed, 0, draw).x[0]);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    left -= weights[i];
    if (left < 0) return static_cast<std::int32_t>(i);
  }
  return static_cast<std::int32_t>(likeliest - logits.begin());
}

std::vector<Likely> likeliest(std::span<float const> logits, std::int64_t count) {
  std::vector<Likely> all;
  double const top = std::ranges::max(logits);
  double total = 0;
  for (auto const logit : logits) {
    auto const weight = std::exp(logit - top);
    total += weight;
    all.push_back({static_cast<std::int32_t>(all.size()), weight});
  }
  auto const order = [](Likely const& one) { return std::pair(-one.probability, one.token); };
  auto const end = all.begin() + std::min(count, std::ssize(all));
  std::ranges::partial_sort(all, end, {}, order);
  all.erase(end, all.end());
  for (auto& one : all) one.probability /= total;
  return all;
}

}  // namespace spillway
