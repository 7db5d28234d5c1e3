// The codes of 8 bits are those of bitsandbytes' dynamic map, and a number has the nearest one.
#include <gtest/gtest.h>

#include "kernels/formulas/dynamic_code.hpp"
#include "tests/unit/kernels/update_reference.hpp"

namespace spillway::dynamic_codes_test {
namespace {

template <class Code>
void expect_map(bool is_signed) {
  auto const map = test::dynamic_map(is_signed);
  ASSERT_EQ(map.size(), 256u);
  for (int code = 0; code < 256; ++code) {
    auto const number = Code::decode(static_cast<std::uint8_t>(code));
    EXPECT_NEAR(number, map[static_cast<std::size_t>(code)],
                1e-7 * std::abs(map[static_cast<std::size_t>(code)]))
        << code;
    EXPECT_EQ(Code::encode(number), code);
  }
}

TEST(DynamicCodes, are_those_of_the_map) {
  expect_map<SignedCode>(true);
  expect_map<UnsignedCode>(false);
}

// As bitsandbytes prints them.
TEST(DynamicCodes, have_the_known_ends) {
  EXPECT_FLOAT_EQ(SignedCode::decode(0), -0.99296875f);
  EXPECT_FLOAT_EQ(SignedCode::decode(1), -0.97890625f);
  EXPECT_FLOAT_EQ(SignedCode::decode(126), -5.5e-7f);
  EXPECT_EQ(SignedCode::decode(127), 0);
  EXPECT_FLOAT_EQ(SignedCode::decode(128), 5.5e-7f);
  EXPECT_FLOAT_EQ(SignedCode::decode(254), 0.99296875f);
  EXPECT_EQ(SignedCode::decode(255), 1);
  EXPECT_EQ(UnsignedCode::decode(0), 0);
  EXPECT_FLOAT_EQ(UnsignedCode::decode(1), 3.25e-7f);
  EXPECT_FLOAT_EQ(UnsignedCode::decode(254), 0.996484375f);
  EXPECT_EQ(UnsignedCode::decode(255), 1);
}

template <class Code>
void expect_nearest(float share, std::vector<double> const& map) {
  double least = 2;
  for (double const number : map) {
    if (share >= 0 || number < 0) least = std::min(least, std::abs(number - double{share}));
  }
  auto const code = Code::encode(share);
  EXPECT_LE(std::abs(map[code] - double{share}), least + 5e-7 * std::abs(share)) << share;
  EXPECT_EQ(Code::decode(code) < 0, share < 0) << share;
}

TEST(DynamicCodes, are_the_nearest_of_any_number) {
  auto const with_signs = test::dynamic_map(true), without = test::dynamic_map(false);
  for (float share = 1e-9f; share <= 1; share *= 1.0007f) {
    expect_nearest<SignedCode>(share, with_signs);
    expect_nearest<SignedCode>(-share, with_signs);
    expect_nearest<UnsignedCode>(share, without);
  }
  EXPECT_EQ(SignedCode::encode(0), 127);
  EXPECT_EQ(SignedCode::encode(-1), 0);
  EXPECT_EQ(UnsignedCode::encode(0), 0);
}

}  // namespace
}  // namespace spillway::dynamic_codes_test
