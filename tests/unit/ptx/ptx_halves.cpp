// Compares arithmetic of f16 and bf16 with exact sums that are rounded once.
#include <cmath>

#include "base/bf16.hpp"
#include "base/f16.hpp"
#include "tests/unit/ptx/op_case.hpp"

namespace spillway::test::ptx::ptx_halves_test {
namespace {

// long double has 80 bits, which hold products of halves exactly, and sums but for a small rest.
using Exact = long double;

// Returns a float that is odd where the sum is not exact, and so rounds to a half as the sum would.
float odd_sum(Exact a, Exact b) {
  auto const sum = a + b;
  auto const part = sum - a;
  auto const rest = (a - (sum - part)) + (b - part);
  auto const value = static_cast<float>(sum);
  if (!std::isfinite(sum)) return value;
  if (std::isinf(value)) return std::copysign(0x1.fffffep127f, value);
  auto const missing = (sum - Exact{value}) + rest;
  if (missing == 0) return value;
  bool const is_beyond = std::signbit(missing) != std::signbit(value);
  auto const bits = std::bit_cast<std::uint32_t>(value) - (is_beyond ? 1 : 0);
  return std::bit_cast<float>(bits | 1);
}
template <class Half>
std::uint16_t rounded_half(Exact a, Exact b) {
  auto const sum = odd_sum(a, b);
  return sum == sum ? store<Half>(sum).bits : std::uint16_t{0x7fff};
}

template <class Half>
Exact exact(std::uint16_t bits) {
  return to_float(Half{bits});
}

template <class Half>
void expect_half(std::string const& type) {
  using U = std::uint16_t;
  expect_op<U, U, U>("add.rn." + type,
                     [](U a, U b) { return rounded_half<Half>(exact<Half>(a), exact<Half>(b)); });
  expect_op<U, U, U>("sub." + type,
                     [](U a, U b) { return rounded_half<Half>(exact<Half>(a), -exact<Half>(b)); });
  expect_op<U, U, U>("mul." + type, [](U a, U b) {
    return rounded_half<Half>(exact<Half>(a) * exact<Half>(b), -0.0L);
  });
  expect_op<U, U, U, U>("fma.rn." + type, [](U a, U b, U c) {
    return rounded_half<Half>(exact<Half>(a) * exact<Half>(b), exact<Half>(c));
  });
  expect_op<U, U, U, U>("fma.rn.relu." + type, [](U a, U b, U c) {
    auto const product = exact<Half>(a) * exact<Half>(b);
    bool const is_negative = odd_sum(product, exact<Half>(c)) < 0;
    return is_negative ? U{0} : rounded_half<Half>(product, exact<Half>(c));
  });
}

// A number wins over a NaN, and for min the zero with a sign over the other one.
template <class Half>
std::uint16_t smaller(std::uint16_t a, std::uint16_t b) {
  auto const x = exact<Half>(a), y = exact<Half>(b);
  if (x != x && y != y) return 0x7fff;
  if (x != x || y < x) return b;
  if (y != y || x < y) return a;
  return std::signbit(x) ? a : b;
}
template <class Half>
std::uint16_t larger(std::uint16_t a, std::uint16_t b) {
  auto const x = exact<Half>(a), y = exact<Half>(b);
  if (x != x && y != y) return 0x7fff;
  if (x != x || y > x) return b;
  if (y != y || x > y) return a;
  return std::signbit(x) ? b : a;
}
template <class Half>
bool one_is_nan(std::uint16_t a, std::uint16_t b) {
  return std::isnan(exact<Half>(a)) || std::isnan(exact<Half>(b));
}

template <class Half>
void expect_order_and_signs(std::string const& type) {
  using U = std::uint16_t;
  expect_op<U, U>("neg." + type, [](U a) { return static_cast<U>(a ^ 0x8000); });
  expect_op<U, U>("abs." + type, [](U a) { return static_cast<U>(a & 0x7fff); });
  expect_op<U, U, U>("min." + type, smaller<Half>);
  expect_op<U, U, U>("max." + type, larger<Half>);
  expect_op<U, U, U>("min.NaN." + type, [](U a, U b) {
    return one_is_nan<Half>(a, b) ? U{0x7fff} : smaller<Half>(a, b);
  });
  expect_op<U, U, U>("max.NaN." + type, [](U a, U b) {
    return one_is_nan<Half>(a, b) ? U{0x7fff} : larger<Half>(a, b);
  });
}

template <class Half>
void expect_pairs(std::string const& type) {
  using U = std::uint32_t;
  expect_op<U, U, U, U>("fma.rn." + type, [](U a, U b, U c) {
    auto const part = [&](unsigned shift) {
      auto const at = [&](U x) { return exact<Half>(static_cast<std::uint16_t>(x >> shift)); };
      return U{rounded_half<Half>(at(a) * at(b), at(c))} << shift;
    };
    return part(0) | part(16);
  });
}

TEST(PtxHalves, are_rounded_once) {
  expect_half<f16>("f16");
  expect_half<bf16>("bf16");
}

TEST(PtxHalves, order_and_signs) {
  expect_order_and_signs<f16>("f16");
  expect_order_and_signs<bf16>("bf16");
}

TEST(PtxHalves, pairs_are_two_of_them) {
  expect_pairs<f16>("f16x2");
  expect_pairs<bf16>("bf16x2");
}

TEST(PtxHalves, saturate) {
  using U = std::uint16_t;
  expect_op<U, U, U>("add.sat.f16", [](U a, U b) {
    auto const sum = exact<f16>(rounded_half<f16>(exact<f16>(a), exact<f16>(b)));
    return to_f16(sum > 0 ? static_cast<float>(std::min(sum, Exact{1})) : 0.0f).bits;
  });
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_halves_test
