// Compares cvt of every pair of types with casts of C++, where these are defined.
#include <cfenv>
#include <cmath>

#include "base/bf16.hpp"
#include "base/f16.hpp"
#include "tests/unit/ptx/op_case.hpp"

namespace spillway::test::ptx::ptx_conversions_test {
namespace {

template <class T>
constexpr char const* kName = "";
template <>
constexpr char const* kName<std::uint16_t> = "u16";
template <>
constexpr char const* kName<std::uint32_t> = "u32";
template <>
constexpr char const* kName<std::uint64_t> = "u64";
template <>
constexpr char const* kName<std::int16_t> = "s16";
template <>
constexpr char const* kName<std::int32_t> = "s32";
template <>
constexpr char const* kName<std::int64_t> = "s64";
template <>
constexpr char const* kName<float> = "f32";
template <>
constexpr char const* kName<double> = "f64";

template <class To, class From>
std::string opcode(std::string const& modifiers) {
  return fmt::format("cvt{}.{}.{}", modifiers, kName<To>, kName<From>);
}

// Clamps a float to a type of whole numbers, and converts NaN as PTX ISA says.
template <class To, class From>
To whole(From x) {
  constexpr bool wide = sizeof(From) == 8 || sizeof(To) == 8;
  if (x != x) return wide ? static_cast<To>(std::uint64_t{1} << (8 * sizeof(To) - 1)) : To{0};
  auto const exact = static_cast<long double>(x);
  if (exact >= static_cast<long double>(std::numeric_limits<To>::max()))
    return std::numeric_limits<To>::max();
  if (exact <= static_cast<long double>(std::numeric_limits<To>::min()))
    return std::numeric_limits<To>::min();
  return static_cast<To>(x);
}

template <class To, class From>
void expect_from_float() {
  expect_op<To, From>(opcode<To, From>(".rzi"), [](From x) { return whole<To>(std::trunc(x)); });
  expect_op<To, From>(opcode<To, From>(".rni"),
                      [](From x) { return whole<To>(std::nearbyint(x)); });
  expect_op<To, From>(opcode<To, From>(".rmi"), [](From x) { return whole<To>(std::floor(x)); });
  expect_op<To, From>(opcode<To, From>(".rpi.sat"), [](From x) { return whole<To>(std::ceil(x)); });
}

template <class To>
void expect_to_whole() {
  expect_from_float<To, float>();
  expect_from_float<To, double>();
  expect_op<To, std::uint16_t>(opcode<To, std::uint16_t>(""), [](auto x) { return To(x); });
  expect_op<To, std::int16_t>(opcode<To, std::int16_t>(""), [](auto x) { return To(x); });
  expect_op<To, std::uint32_t>(opcode<To, std::uint32_t>(""), [](auto x) { return To(x); });
  expect_op<To, std::int32_t>(opcode<To, std::int32_t>(""), [](auto x) { return To(x); });
  expect_op<To, std::uint64_t>(opcode<To, std::uint64_t>(""), [](auto x) { return To(x); });
  expect_op<To, std::int64_t>(opcode<To, std::int64_t>(""), [](auto x) { return To(x); });
}

TEST(PtxConversions, to_whole_numbers) {
  expect_to_whole<std::uint16_t>();
  expect_to_whole<std::int16_t>();
  expect_to_whole<std::uint32_t>();
  expect_to_whole<std::int32_t>();
  expect_to_whole<std::uint64_t>();
  expect_to_whole<std::int64_t>();
}

TEST(PtxConversions, of_whole_numbers_saturate_if_told_so) {
  expect_op<std::uint16_t, std::int32_t>("cvt.sat.u16.s32", [](std::int32_t x) {
    return static_cast<std::uint16_t>(std::clamp(x, 0, 65535));
  });
  expect_op<std::int16_t, std::uint64_t>("cvt.sat.s16.u64", [](std::uint64_t x) {
    return static_cast<std::int16_t>(std::min<std::uint64_t>(x, 32767));
  });
}

// cvt takes registers that are wider than its types.
TEST(PtxConversions, cut_and_extend) {
  using U32 = std::uint32_t;
  expect_op<U32, U32>("cvt.u32.u8", [](U32 x) { return x & 0xff; });
  expect_op<std::int32_t, U32>("cvt.s32.s8", [](U32 x) { return std::int32_t{std::int8_t(x)}; });
  expect_op<std::int32_t, std::int64_t>(
      "cvt.s16.s64", [](std::int64_t x) { return std::int32_t{std::int16_t(x)}; });
}

template <int mode, class To, class From>
To cast(From x) {
  From volatile from = x;
  std::fesetround(mode);
  To volatile result = static_cast<To>(from);
  std::fesetround(FE_TONEAREST);
  if constexpr (sizeof(To) == 4) return canonical(result);
  return result;
}
template <class To, class From>
void expect_to_float() {
  expect_op<To, From>(opcode<To, From>(".rn"), cast<FE_TONEAREST, To, From>);
  expect_op<To, From>(opcode<To, From>(".rz"), cast<FE_TOWARDZERO, To, From>);
  expect_op<To, From>(opcode<To, From>(".rm"), cast<FE_DOWNWARD, To, From>);
  expect_op<To, From>(opcode<To, From>(".rp"), cast<FE_UPWARD, To, From>);
}

TEST(PtxConversions, to_floats) {
  expect_to_float<float, std::int32_t>();
  expect_to_float<float, std::uint32_t>();
  expect_to_float<float, std::int64_t>();
  expect_to_float<float, std::uint64_t>();
  expect_to_float<double, std::int64_t>();
  expect_to_float<double, std::uint64_t>();
  expect_to_float<float, double>();
  expect_op<double, float>("cvt.f64.f32", [](float x) { return double{x}; });
  expect_op<float, float>("cvt.rni.f32.f32", [](float x) { return canonical(std::nearbyint(x)); });
  expect_op<float, float>("cvt.sat.f32.f32",
                          [](float x) { return x > 0 ? std::min(x, 1.0f) : 0.0f; });
}

template <class Half>
std::uint16_t to_half(float x) {
  return x == x ? store<Half>(x).bits : std::uint16_t{0x7fff};
}

TEST(PtxConversions, of_halves) {
  using U16 = std::uint16_t;
  expect_op<U16, float>("cvt.rn.f16.f32", to_half<f16>);
  expect_op<U16, float>("cvt.rn.bf16.f32", to_half<bf16>);
  expect_op<float, U16>("cvt.f32.f16", [](U16 x) { return canonical(to_float(f16{x})); });
  expect_op<float, U16>("cvt.f32.bf16", [](U16 x) { return canonical(to_float(bf16{x})); });
  expect_op<U16, float>("cvt.rz.bf16.f32", [](float x) {
    return x == x ? static_cast<U16>(std::bit_cast<std::uint32_t>(x) >> 16) : U16{0x7fff};
  });
  expect_op<U16, float>("cvt.rn.relu.bf16.f32",
                        [](float x) { return x < 0 ? U16{0} : to_half<bf16>(x); });
  expect_op<std::uint32_t, float, float>("cvt.rn.bf16x2.f32", [](float a, float b) {
    return std::uint32_t{to_half<bf16>(a)} << 16 | to_half<bf16>(b);
  });
}

TEST(PtxConversions, to_tf32_round_half_away_from_zero) {
  expect_op<std::uint32_t, float>("cvt.rna.tf32.f32", [](float x) {
    if (x != x) return std::uint32_t{0x7fffe000};
    auto const bits = std::bit_cast<std::uint32_t>(x);
    return std::isinf(x) ? bits : (bits + 0x1000) & ~0x1fffu;
  });
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_conversions_test
