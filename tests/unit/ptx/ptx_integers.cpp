// Compares sums, products and quotients of integers with what C++ computes in wider types.
#include <type_traits>

#include "tests/unit/ptx/op_case.hpp"

namespace spillway::test::ptx::ptx_integers_test {
namespace {

__extension__ using S128 = __int128;

template <class T>
T clamp(S128 x) {
  auto const least = S128{std::numeric_limits<T>::min()},
             most = S128{std::numeric_limits<T>::max()};
  return static_cast<T>(x < least ? least : x > most ? most : x);
}

template <class T>
void expect_sums(std::string const& type) {
  expect_op<T, T, T>("add." + type, [](T a, T b) { return static_cast<T>(S128{a} + b); });
  expect_op<T, T, T>("sub." + type, [](T a, T b) { return static_cast<T>(S128{a} - b); });
  expect_op<T, T, T>("min." + type, [](T a, T b) { return std::min(a, b); });
  expect_op<T, T, T>("max." + type, [](T a, T b) { return std::max(a, b); });
}

template <class T>
void expect_quotients(std::string const& type) {
  expect_op<T, T, T>("div." + type, [](T a, T b) {
    return b == 0 ? static_cast<T>(~T{0}) : static_cast<T>(S128{a} / S128{b});
  });
  expect_op<T, T, T>("rem." + type,
                     [](T a, T b) { return b == 0 ? a : static_cast<T>(S128{a} % S128{b}); });
}

// Returns the upper half of a product. 128 bits hold it also for factors of 64 bits without sign.
template <class T>
T upper_half(T a, T b) {
  __extension__ using U128 = unsigned __int128;
  auto const product =
      std::is_signed_v<T> ? static_cast<U128>(S128{a} * S128{b}) : U128(a) * U128(b);
  return static_cast<T>(product >> (8 * sizeof(T)));
}
template <class T>
void expect_products(std::string const& type) {
  using Bits = std::uint64_t;
  expect_op<T, T, T>("mul.lo." + type, [](T a, T b) { return static_cast<T>(Bits(a) * Bits(b)); });
  expect_op<T, T, T>("mul.hi." + type, upper_half<T>);
  expect_op<T, T, T, T>("mad.lo." + type,
                        [](T a, T b, T c) { return static_cast<T>(Bits(a) * Bits(b) + Bits(c)); });
  expect_op<T, T, T, T>("mad.hi." + type, [](T a, T b, T c) {
    return static_cast<T>(Bits(upper_half(a, b)) + Bits(c));
  });
}

template <class Wide, class T>
void expect_wide(std::string const& type) {
  expect_op<Wide, T, T>("mul.wide." + type,
                        [](T a, T b) { return static_cast<Wide>(S128{a} * S128{b}); });
  expect_op<Wide, T, T, Wide>("mad.wide." + type, [](T a, T b, Wide c) {
    return static_cast<Wide>(S128{a} * S128{b} + S128{c});
  });
}

template <class T>
void expect_signs(std::string const& type) {
  expect_op<T, T>("neg." + type, [](T a) { return static_cast<T>(-S128{a}); });
  expect_op<T, T>("abs." + type, [](T a) { return static_cast<T>(a < 0 ? -S128{a} : S128{a}); });
}

template <class T>
void expect_all(std::string const& type) {
  expect_sums<T>(type);
  expect_quotients<T>(type);
  expect_products<T>(type);
}

TEST(PtxIntegers, without_sign_are_as_in_cpp) {
  expect_all<std::uint16_t>("u16");
  expect_all<std::uint32_t>("u32");
  expect_all<std::uint64_t>("u64");
}

TEST(PtxIntegers, with_sign_are_as_in_cpp) {
  expect_all<std::int16_t>("s16");
  expect_all<std::int32_t>("s32");
  expect_all<std::int64_t>("s64");
  expect_signs<std::int16_t>("s16");
  expect_signs<std::int32_t>("s32");
  expect_signs<std::int64_t>("s64");
}

TEST(PtxIntegers, wide_products_keep_all_bits) {
  expect_wide<std::uint32_t, std::uint16_t>("u16");
  expect_wide<std::int32_t, std::int16_t>("s16");
  expect_wide<std::uint64_t, std::uint32_t>("u32");
  expect_wide<std::int64_t, std::int32_t>("s32");
}

TEST(PtxIntegers, saturate_where_they_are_told_to) {
  using T = std::int32_t;
  expect_op<T, T, T>("add.sat.s32", [](T a, T b) { return clamp<T>(S128{a} + b); });
  expect_op<T, T, T>("sub.sat.s32", [](T a, T b) { return clamp<T>(S128{a} - b); });
  expect_op<T, T, T, T>("mad.hi.sat.s32",
                        [](T a, T b, T c) { return clamp<T>(S128{upper_half(a, b)} + c); });
}

TEST(PtxIntegers, sums_of_differences) {
  using T = std::uint32_t;
  expect_op<T, T, T, T>("sad.u32", [](T a, T b, T c) { return c + (a < b ? b - a : a - b); });
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_integers_test
