// Rotary positions against their serial reference and the formulas of transformers.
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.hpp"
#include "kernels/formulas/rope.hpp"
#include "tests/support/kernel_harness.hpp"

namespace spillway::kernels_rope_test {
namespace {

using test::KernelHarness;

class KernelRope : public ::testing::TestWithParam<DType> {
 protected:
  // Two neighbours among the numbers that can be stored, relative: both sides round, at times
  // apart.
  double rounding() const { return GetParam() == DType::bf16 ? 0x1p-7 : 0x1p-22; }
};
INSTANTIATE_TEST_SUITE_P(Types, KernelRope, ::testing::Values(DType::f32, DType::bf16),
                         [](auto const& info) { return std::string(name(info.param)); });

// Heads and 11 more columns, in wider rows.
struct Rope {
  static constexpr std::int64_t rows = 38, sequence = 19, heads = 3;
  KernelHarness h;
  std::int64_t head_size;
  View positions, x, y;

  Rope(DType t, std::int64_t head, bool with_positions)
      : head_size(head), positions(h.tensor(DType::i32, {rows})), x(in_wider(t)), y(in_wider(t)) {
    h.fill_integers(positions, 0, 131072);
    h.set(positions, 0, 0);
    h.set(positions, 1, 131071);
    if (!with_positions) positions = {};
  }
  void run(RopeAttributes attributes = {}) {
    attributes.sequence = sequence;
    attributes.heads = heads;
    attributes.head_size = head_size;
    h.op(OpKind::rope, {x, positions}, {y}, attributes);
    h.run(host::kernel(OpKind::rope));
  }

 private:
  View in_wider(DType t) {
    auto const n = heads * head_size + 11;
    auto const wider = h.tensor(t, {rows, n + 20});
    h.fill_normal(wider, 1);
    return columns(wider, 7, n);
  }
};

TEST_P(KernelRope, follows_fp64_wherever_rows_stand) {
  for (std::int64_t const head : {2, 6, 134, 256})
    for (bool const positions : {false, true})
      for (bool const inverse : {false, true}) {
        Rope r(GetParam(), head, positions);
        r.run({.theta = 5e5, .inverse = inverse});
        r.h.expect_close(r.y, 1e-6, rounding());
      }
}

// q cos + rotate_half(q) sin, of a row in the second sequence.
TEST_P(KernelRope, turns_halves_of_heads_against_each_other_and_copies_the_rest) {
  Rope r(GetParam(), 6, false);
  r.run({.theta = 100});
  auto const x = r.h.contents(r.x), y = r.h.results(r.y);
  std::size_t const columns = 3 * 6 + 11, row = 24 * columns, head = row + 6;
  double const position = 24 - 19;
  for (std::size_t j = 0; j < 3; ++j) {
    double const angle = position * std::pow(100, -2.0 * static_cast<double>(j) / 6);
    auto const a = x[head + j], b = x[head + j + 3];
    EXPECT_NEAR(y[head + j], a * std::cos(angle) - b * std::sin(angle), 0.02);
    EXPECT_NEAR(y[head + j + 3], b * std::cos(angle) + a * std::sin(angle), 0.02);
  }
  for (auto j = row + 18; j < row + columns; ++j) EXPECT_EQ(y[j], x[j]);
  for (std::size_t j = 0; j < columns; ++j) EXPECT_EQ(y[j], x[j]) << "at position 0";
}

TEST_P(KernelRope, turns_back_what_it_has_turned) {
  Rope r(GetParam(), 134, true);
  r.run();
  auto const x = r.h.contents(r.x);
  r.h.set_all(r.x, r.h.results(r.y));
  r.run({.inverse = true});
  auto const back = r.h.results(r.y);
  for (std::size_t i = 0; i < x.size(); ++i)
    EXPECT_NEAR(back[i], x[i], GetParam() == DType::bf16 ? 0.04 : 1e-6);
}

RopeFrequencies frequencies(RopeAttributes attributes) {
  Op op;
  op.name = "h.0/rope";
  op.attributes = attributes;
  return rope_frequencies(op);
}

TEST(RopeFrequencies, of_heads_begin_with_one_and_fall_by_powers_of_theta) {
  auto const f = frequencies({.head_size = 64, .theta = 1e4});
  EXPECT_EQ(f.of_pair[0], 1.0f);
  EXPECT_EQ(f.of_pair[8], 0.1f);
  EXPECT_FLOAT_EQ(f.of_pair[1], 0.749894209f);
  auto const linear =
      frequencies({.head_size = 64, .theta = 1e4, .scaling = RopeScaling::linear, .factor = 4});
  for (int j = 0; j < 32; ++j) EXPECT_EQ(linear.of_pair[j], f.of_pair[j] / 4);
}

// By Llama 3.1's published values: short waves, those between, long ones.
TEST(RopeFrequencies, of_llama3_divide_long_waves_alone) {
  auto const f = frequencies({.head_size = 128,
                              .theta = 5e5,
                              .scaling = RopeScaling::llama3,
                              .factor = 8,
                              .low_freq_factor = 1,
                              .high_freq_factor = 4,
                              .original_max_position = 8192});
  EXPECT_EQ(f.of_pair[0], 1.0f);
  EXPECT_FLOAT_EQ(f.of_pair[20], 0.0165604401f);
  EXPECT_FLOAT_EQ(f.of_pair[28], 0.0032114460f);
  EXPECT_NEAR(f.of_pair[29] / 0.002166570763503359, 1, 1e-6);
  EXPECT_NEAR(f.of_pair[33] / 0.00031269375038406517, 1, 1e-6);
  EXPECT_FLOAT_EQ(f.of_pair[36], 7.78465527e-5f);
  EXPECT_FLOAT_EQ(f.of_pair[63], 3.06892599e-7f);
}

// Limits that are not those of Llama 3: waves beyond 2048 positions are divided, those below 819.2
// are kept. By fp64: (1 - s) f / 4 + s f, s = (4096 / wave - 2) / (5 - 2).
TEST(RopeFrequencies, of_llama3_pass_from_low_to_high_within_the_given_limits) {
  auto const f = frequencies({.head_size = 128,
                              .theta = 5e5,
                              .scaling = RopeScaling::llama3,
                              .factor = 4,
                              .low_freq_factor = 2,
                              .high_freq_factor = 5,
                              .original_max_position = 4096});
  auto const expect_near = [&](int pair, double expected) {
    EXPECT_NEAR(f.of_pair[pair] / expected, 1, 5e-6) << pair;
  };
  expect_near(23, 0.00895225933619);
  expect_near(24, 0.00684430856333);
  expect_near(26, 0.00260701107193);
  expect_near(28, 0.000877958994414);
  expect_near(29, 0.000654024813231);
  expect_near(40, 6.85620439191e-05);
}

TEST(RopeFrequencies, of_what_has_none_are_refused_by_name) {
  auto const refused = [](RopeAttributes const& attributes) {
    try {
      frequencies(attributes);
    } catch (Error const& error) {
      return std::string(error.what()).find("h.0/rope") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refused({.head_size = 7}));
  EXPECT_TRUE(refused({.head_size = 258}));
  EXPECT_TRUE(refused({.head_size = 8, .theta = 0}));
  EXPECT_TRUE(refused({.head_size = 8, .scaling = RopeScaling::linear, .factor = 0}));
  EXPECT_TRUE(refused({.head_size = 8,
                       .scaling = RopeScaling::llama3,
                       .low_freq_factor = 4,
                       .high_freq_factor = 4}));
}

}  // namespace
}  // namespace spillway::kernels_rope_test
