// Compares logic, shifts and counts with loops over bits.
#include "tests/unit/ptx/op_case.hpp"

namespace spillway::test::ptx::ptx_bits_test {
namespace {

using U32 = std::uint32_t;

template <class T>
bool bit(T x, unsigned n) {
  return (x >> n & 1) != 0;
}

template <class T>
void expect_logic(std::string const& type) {
  expect_op<T, T, T>("and." + type, [](T a, T b) { return static_cast<T>(a & b); });
  expect_op<T, T, T>("or." + type, [](T a, T b) { return static_cast<T>(a | b); });
  expect_op<T, T, T>("xor." + type, [](T a, T b) { return static_cast<T>(a ^ b); });
  expect_op<T, T>("not." + type, [](T a) { return static_cast<T>(~a); });
  expect_op<T, T, U32>("shl." + type, [](T a, U32 n) {
    return n >= 8 * sizeof(T) ? T{0} : static_cast<T>(std::uint64_t{a} << n);
  });
}
template <class T>
void expect_shift_right(std::string const& type) {
  expect_op<T, T, U32>("shr." + type, [](T a, U32 n) {
    return static_cast<T>(a >> std::min<U32>(n, 8 * sizeof(T) - 1) >> (n >= 8 * sizeof(T) ? 1 : 0));
  });
}

TEST(PtxBits, logic_and_shifts) {
  expect_logic<std::uint16_t>("b16");
  expect_logic<std::uint32_t>("b32");
  expect_logic<std::uint64_t>("b64");
  expect_shift_right<std::uint16_t>("u16");
  expect_shift_right<std::uint32_t>("u32");
  expect_shift_right<std::uint64_t>("b64");
  expect_shift_right<std::int16_t>("s16");
  expect_shift_right<std::int32_t>("s32");
  expect_shift_right<std::int64_t>("s64");
}

template <class T>
void expect_counts(std::string const& type) {
  expect_op<U32, T>("popc." + type, [](T a) {
    U32 result = 0;
    for (unsigned n = 0; n < 8 * sizeof(T); ++n) result += bit(a, n);
    return result;
  });
  expect_op<U32, T>("clz." + type, [](T a) {
    U32 result = 0;
    while (result < 8 * sizeof(T) && !bit(a, 8 * sizeof(T) - 1 - result)) ++result;
    return result;
  });
  expect_op<T, T>("brev." + type, [](T a) {
    T result = 0;
    for (unsigned n = 0; n < 8 * sizeof(T); ++n)
      if (bit(a, n)) result |= T{1} << (8 * sizeof(T) - 1 - n);
    return result;
  });
}

TEST(PtxBits, counts) {
  expect_counts<std::uint32_t>("b32");
  expect_counts<std::uint64_t>("b64");
}

TEST(PtxBits, any_function_of_three) {
  expect_op<U32, U32, U32, U32>(
      "lop3.b32", [](U32 a, U32 b, U32 c) { return (a & b) ^ c; }, ", 0x6a");
  expect_op<U32, U32, U32, U32>(
      "lop3.b32", [](U32 a, U32 b, U32 c) { return a ^ b ^ c; }, ", 0x96");
  expect_op<U32, U32, U32, U32>(
      "lop3.b32", [](U32 a, U32 b, U32 c) { return ~a | (b & ~c); }, ", 0x4f");
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_bits_test
