// Tests cvt of f16, bf16 and bytes, to and from all other types.
#include <cmath>

#include "base/bf16.hpp"
#include "base/f16.hpp"
#include "tests/unit/ptx/op_case.hpp"

namespace spillway::test::ptx::ptx_small_conversions_test {
namespace {

using U16 = std::uint16_t;
using U32 = std::uint32_t;

template <class Half>
double value(U16 bits) {
  return to_float(Half{bits});
}

// Rounds down to the largest half that is not larger; rounding up is the negative of that.
template <class Half>
U16 rounded_down(double x) {
  if (x != x) return 0x7fff;
  if (x == 0) return std::signbit(x) ? 0x8000 : 0;
  auto const infinity = std::bit_cast<U16>(store<Half>(INFINITY));
  if (x > 0) {  // positive halves are ordered as their bits are
    U16 low = 0, high = infinity;
    while (low < high) {
      auto const middle = static_cast<U16>((low + high + 1) / 2);
      (value<Half>(middle) <= x ? low : high) = value<Half>(middle) <= x ? middle : U16(middle - 1);
    }
    return low;
  }
  U16 low = 0, high = infinity;
  while (low < high) {
    auto const middle = static_cast<U16>((low + high) / 2);
    if (value<Half>(middle) >= -x)
      high = middle;
    else
      low = static_cast<U16>(middle + 1);
  }
  return static_cast<U16>(low | 0x8000);
}
template <class Half>
U16 rounded_up(double x) {
  auto const result = rounded_down<Half>(-x);
  return x != x ? result : static_cast<U16>(result ^ 0x8000);
}
template <class Half>
U16 cut(double x) {
  return x < 0 || std::signbit(x) ? rounded_up<Half>(x) : rounded_down<Half>(x);
}
// Rounds to the nearer neighbour, or in the middle to the one whose last bit is zero.
template <class Half>
U16 nearest(double x) {
  auto const low = rounded_down<Half>(x), high = rounded_up<Half>(x);
  if (low == high || x != x) return low;
  auto const limit = [](U16 bits) {  // takes infinity for the number that would come next
    auto const number = value<Half>(bits);
    if (std::isfinite(number)) return number;
    auto const last = value<Half>(static_cast<U16>(bits - 1)), before = value<Half>(U16(bits - 2));
    return last + (last - before);
  };
  auto const to_low = x - limit(low), to_high = limit(high) - x;
  if (to_low != to_high) return to_low < to_high ? low : high;
  return low % 2 == 0 ? low : high;
}

template <class Half, class From>
void expect_from(std::string const& half, std::string const& from) {
  auto const types = "." + half + "." + from;
  expect_op<U16, From>("cvt.rn" + types, [](From x) { return nearest<Half>(double(x)); });
  expect_op<U16, From>("cvt.rz" + types, [](From x) { return cut<Half>(double(x)); });
  expect_op<U16, From>("cvt.rm" + types, [](From x) { return rounded_down<Half>(double(x)); });
  expect_op<U16, From>("cvt.rp" + types, [](From x) { return rounded_up<Half>(double(x)); });
}

template <class Half>
void expect_whole(std::string const& half) {
  expect_op<std::int32_t, U16>("cvt.rzi.s32." + half, [](U16 x) {
    auto const exact = value<Half>(x);
    if (exact != exact) return std::int32_t{0};
    return static_cast<std::int32_t>(std::clamp(std::trunc(exact), -0x1p31, 0x1p31 - 1));
  });
  expect_op<U32, U16>("cvt.rni.u16." + half, [](U16 x) {
    auto const exact = value<Half>(x);
    if (exact != exact) return U32{0};
    return static_cast<U32>(std::clamp(std::nearbyint(exact), 0.0, 65535.0));
  });
  expect_op<U16, U16>("cvt.rpi." + half + "." + half,
                      [](U16 x) { return nearest<Half>(std::ceil(value<Half>(x))); });
  expect_op<double, U16>("cvt.f64." + half, [](U16 x) { return value<Half>(x); });
}

TEST(PtxSmallConversions, of_halves) {
  expect_from<f16, float>("f16", "f32");
  expect_from<f16, double>("f16", "f64");
  expect_from<f16, std::int32_t>("f16", "s32");
  expect_from<f16, U32>("f16", "u32");
  expect_from<bf16, float>("bf16", "f32");
  expect_from<bf16, std::int32_t>("bf16", "s32");
  expect_whole<f16>("f16");
  expect_whole<bf16>("bf16");
  expect_op<U16, U16>("cvt.sat.f16.f16", [](U16 x) {
    auto const exact = value<f16>(x);
    return exact > 0 ? nearest<f16>(std::min(exact, 1.0)) : U16{0};
  });
}

// The first operand goes into the upper half.
template <class Half>
void expect_pairs(std::string const& type) {
  using F = float;
  expect_op<U32, F, F>("cvt.rn." + type + ".f32",
                       [](F a, F b) { return U32{nearest<Half>(a)} << 16 | nearest<Half>(b); });
  expect_op<U32, F, F>("cvt.rz." + type + ".f32",
                       [](F a, F b) { return U32{cut<Half>(a)} << 16 | cut<Half>(b); });
  expect_op<U32, F, F>("cvt.rn.relu." + type + ".f32", [](F a, F b) {
    auto const cut_off = [](F x) { return x < 0 ? U32{0} : nearest<Half>(x); };
    return cut_off(a) << 16 | cut_off(b);
  });
}

TEST(PtxSmallConversions, into_pairs) {
  expect_pairs<f16>("f16x2");
  expect_pairs<bf16>("bf16x2");
}

TEST(PtxSmallConversions, of_bytes) {
  expect_op<U32, float>("cvt.rzi.u8.f32", [](float x) {
    return x != x ? U32{0} : static_cast<U32>(std::clamp(std::trunc(x), 0.0f, 255.0f));
  });
  expect_op<std::int32_t, float>("cvt.rni.s8.f32", [](float x) {
    return x != x ? 0 : static_cast<std::int32_t>(std::clamp(std::nearbyint(x), -128.0f, 127.0f));
  });
  expect_op<float, U32>("cvt.rn.f32.u8", [](U32 x) { return static_cast<float>(x & 0xff); });
  expect_op<float, U32>("cvt.rn.f32.s8",
                        [](U32 x) { return static_cast<float>(static_cast<std::int8_t>(x)); });
  expect_op<std::int32_t, std::int32_t>("cvt.sat.s8.s32",
                                        [](std::int32_t x) { return std::clamp(x, -128, 127); });
  expect_op<U32, std::int64_t>("cvt.sat.u8.s64", [](std::int64_t x) {
    return static_cast<U32>(std::clamp<std::int64_t>(x, 0, 255));
  });
}

TEST(PtxSmallConversions, flush_subnormals) {
  expect_op<U16, float>("cvt.rp.ftz.f16.f32", [](float x) {
    return rounded_up<f16>(std::fabs(x) < 0x1p-126f ? std::copysign(0.0f, x) : x);
  });
  expect_op<std::int32_t, float>("cvt.rpi.ftz.s32.f32", [](float x) {
    if (x != x || std::fabs(x) < 0x1p-126f) return std::int32_t{0};
    return static_cast<std::int32_t>(std::clamp<double>(std::ceil(x), -0x1p31, 0x1p31 - 1));
  });
  expect_op<float, double>("cvt.rn.ftz.f32.f64", [](double x) {
    auto const result = canonical(static_cast<float>(x));
    return std::fabs(result) < 0x1p-126f ? std::copysign(0.0f, result) : result;
  });
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_small_conversions_test
