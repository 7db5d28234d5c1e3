// What decides each draw of dropout: counters as they are written down, and nothing left out of
// them.
#include <gtest/gtest.h>

#include <set>

#include "kernels/formulas/dropout.hpp"
#include "kernels/host/attention_dropout.hpp"

namespace spillway::kernels_draws_test {
namespace {

std::vector<std::uint32_t> words(PhiloxBlock const& block) {
  return {block.x, block.x + 4};
}

// From the top: 32 bits of the op's number, 64 of the sample's, 32 of the block's.
TEST(DropoutDraws, follow_from_seed_op_sample_and_block) {
  constexpr std::uint64_t seed = 0x0123456789abcdef, sample = 0x1122334455667788;
  auto const draws = words(dropout_draws(seed, 0x0a0b0c0d, sample, 0x01020304));
  EXPECT_EQ(draws, words(philox(seed, 0x0a0b0c0d11223344, 0x5566778801020304)));
  std::set<std::vector<std::uint32_t>> all = {draws};
  all.insert(words(dropout_draws(seed + 1, 0x0a0b0c0d, sample, 0x01020304)));
  all.insert(words(dropout_draws(seed, 0x0a0b0c0e, sample, 0x01020304)));
  all.insert(words(dropout_draws(seed, 0x0a0b0c0d, sample + 1, 0x01020304)));
  all.insert(words(dropout_draws(seed, 0x0a0b0c0d, sample + (1ull << 40), 0x01020304)));
  all.insert(words(dropout_draws(seed, 0x0a0b0c0d, sample, 0x01020305)));
  EXPECT_EQ(all.size(), 6u);
}

TEST(DropoutDraws, keep_an_element_from_the_share_on) {
  constexpr std::uint32_t half = 1u << 31;
  EXPECT_EQ(dropout_factor(half, 0.5f, 2), 2);
  EXPECT_EQ(dropout_factor(half - 1, 0.5f, 2), 0);
  EXPECT_EQ(dropout_factor(0, 0, 1), 1);
  EXPECT_EQ(dropout_factor(0xffffffff, 0.999f, 1000), 1000);
}

// 64 queries and keys of one head.
std::vector<float> mask(std::uint64_t seed, std::uint64_t origin, std::int64_t sample,
                        std::int64_t head, double share = 0.5) {
  host::AttentionShape shape{};
  shape.dropout = static_cast<float>(share), shape.seed = seed, shape.origin = origin;
  std::int64_t const samples[] = {-1, sample};
  host::WeightDropout const dropout(samples, shape);
  auto const head_key = dropout.head_key(1, head);
  std::vector<float> factors;
  for (std::int64_t query = 0; query < 64; ++query)
    for (std::int64_t key = 0; key < 64; ++key)
      factors.push_back(dropout.factor(head_key, query, key));
  return factors;
}

TEST(WeightDropout, follows_from_seed_op_sample_and_head) {
  std::set<std::vector<float>> all;
  for (auto const& one :
       {mask(1, 2, 3, 4), mask((1ull << 40) + 1, 2, 3, 4), mask(2, 2, 3, 4), mask(1, 3, 3, 4),
        mask(1, 2, 4, 4), mask(1, 2, (1ll << 40) + 3, 4), mask(1, 2, 3, 5), mask(1, 2, 3, 0)})
    all.insert(one);
  EXPECT_EQ(all.size(), 8u);
  EXPECT_EQ(mask(1, 2, 3, 4), mask(1, 2, 3, 4));
  auto const drawn = philox(1, (2ull << 32) | 4, 3);
  host::AttentionShape shape{};
  shape.dropout = 0.5f, shape.seed = 1, shape.origin = 2;
  std::int64_t const sample = 3;
  EXPECT_EQ(host::WeightDropout(&sample, shape).head_key(0, 4),
            (std::uint64_t{drawn.x[1]} << 32) | drawn.x[0]);
}

TEST(WeightDropout, tells_queries_from_keys_and_scales_what_it_keeps) {
  auto const factors = mask(1, 2, 3, 4, 0.75);
  std::set<std::vector<float>> rows, columns;
  int kept = 0, is_symmetric = 1;
  for (std::size_t i = 0; i < 64; ++i) {
    std::vector<float> row, column;
    for (std::size_t j = 0; j < 64; ++j) {
      row.push_back(factors[i * 64 + j]);
      column.push_back(factors[j * 64 + i]);
      kept += factors[i * 64 + j] != 0 ? 1 : 0;
      EXPECT_TRUE(row.back() == 0 || row.back() == 4) << row.back();
    }
    is_symmetric &= row == column ? 1 : 0;
    rows.insert(row);
    columns.insert(column);
  }
  EXPECT_EQ(rows.size(), 64u);
  EXPECT_EQ(columns.size(), 64u);
  EXPECT_EQ(is_symmetric, 0);
  EXPECT_NEAR(kept / 4096.0, 0.25, 0.03);
}

TEST(WeightDropout, of_blocks_and_of_keys_is_that_of_single_weights) {
  host::AttentionShape shape{};
  shape.dropout = 0.25f, shape.seed = 9, shape.origin = 5;
  std::int64_t const samples[] = {7, 1ll << 35};
  host::WeightDropout const dropout(samples, shape);
  ASSERT_TRUE(dropout.drops());
  auto const head_key = dropout.head_key(1, 3);
  std::vector<float> weights(96);
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i + 1);
  dropout.drop_keys(weights.data(), 96, head_key, 11, 32);
  for (std::int64_t i = 0; i < 96; ++i)
    EXPECT_EQ(weights[static_cast<std::size_t>(i)],
              static_cast<float>(i + 1) * dropout.factor(head_key, 11, 32 + i));
  constexpr std::int64_t stride = 40, n = 33;
  std::vector<float> factors(kDropoutDraws * stride, -1);
  dropout.factors_of_keys(factors.data(), stride, head_key, 8, 64, n);
  for (std::int64_t k = 0; k < kDropoutDraws; ++k)
    for (std::int64_t l = 0; l < stride; ++l)
      EXPECT_EQ(factors[static_cast<std::size_t>(k * stride + l)],
                l < n ? dropout.factor(head_key, 64 + l, 8 + k) : -1);
}

TEST(WeightDropout, of_no_share_needs_no_samples) {
  host::AttentionShape shape{};
  std::int64_t const sample = 3;
  EXPECT_FALSE(host::WeightDropout(&sample, shape).drops());
  shape.dropout = 0.1f;
  EXPECT_TRUE(host::WeightDropout(&sample, shape).drops());
  EXPECT_FALSE(host::WeightDropout(nullptr, shape).drops());
}

}  // namespace
}  // namespace spillway::kernels_draws_test
