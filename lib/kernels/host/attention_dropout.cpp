#include "kernels/host/attention_dropout.hpp"

namespace spillway::host {
namespace {

PhiloxBlock draws(std::uint64_t head_key, std::int64_t query, std::int64_t block) {
  return philox(head_key, static_cast<std::uint64_t>(query), static_cast<std::uint64_t>(block));
}

// drop_block and store_block are functions of their own because, if a struct is declared within a
// simd loop, GCC keeps it in memory instead of registers.
void drop_block(float* weights, std::uint64_t head_key, std::int64_t query, std::int64_t block,
                float p, float scale) {
  auto const drawn = draws(head_key, query, block);
  for (int k = 0; k < kDropoutDraws; ++k) weights[k] *= dropout_factor(drawn.x[k], p, scale);
}

void store_block(float* factors, std::int64_t stride, std::uint64_t head_key, std::int64_t query,
                 std::int64_t block, float p, float scale) {
  auto const drawn = draws(head_key, query, block);
  for (int k = 0; k < kDropoutDraws; ++k)
    factors[k * stride] = dropout_factor(drawn.x[k], p, scale);
}

}  // namespace

float WeightDropout::factor(std::uint64_t head_key, std::int64_t query, std::int64_t key) const {
  auto const drawn = draws(head_key, query, key / kDropoutDraws);
  return dropout_factor(drawn.x[key % kDropoutDraws], p, scale);
}

void WeightDropout::drop_keys(float* weights, std::int64_t n, std::uint64_t head_key,
                              std::int64_t query, std::int64_t first) const {
  float const share = p, kept = scale;
  auto const first_block = first / kDropoutDraws;
#pragma omp simd
  for (std::int64_t b = 0; b < n / kDropoutDraws; ++b)
    drop_block(weights + b * kDropoutDraws, head_key, query, first_block + b, share, kept);
}

void WeightDropout::factors_of_keys(float* factors, std::int64_t stride, std::uint64_t head_key,
                                    std::int64_t first_key, std::int64_t first,
                                    std::int64_t n) const {
  float const share = p, kept = scale;
  auto const block = first_key / kDropoutDraws;
#pragma omp simd
  for (std::int64_t l = 0; l < n; ++l)
    store_block(factors + l, stride, head_key, first + l, block, share, kept);
}

}  // namespace spillway::host
