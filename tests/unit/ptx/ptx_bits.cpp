// Logic, shifts, counts and fields, bit by bit.
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

// As the documents have it: bit by bit.
template <class T>
void expect_extract(std::string const& type) {
  expect_op<T, T, U32, U32>("bfe." + type, [](T a, U32 b, U32 c) {
    constexpr U32 msb = 8 * sizeof(T) - 1;
    auto const position = b & 0xff, length = c & 0xff;
    bool const sign =
        std::is_signed_v<T> && length > 0 && bit(a, std::min(position + length - 1, msb));
    std::make_unsigned_t<T> result = 0;
    for (U32 i = 0; i <= msb; ++i) {
      bool const one = i < length && position + i <= msb ? bit(a, position + i) : sign;
      result |= std::make_unsigned_t<T>{one} << i;
    }
    return static_cast<T>(result);
  });
}
template <class T>
void expect_insert(std::string const& type) {
  expect_op<T, T, T, U32>(
      "bfi." + type,
      [](T a, T b, U32 c) {
        constexpr U32 msb = 8 * sizeof(T) - 1;
        for (U32 i = 0; i < 5 && (c & 0xff) + i <= msb; ++i) {
          auto const one = T{1} << ((c & 0xff) + i);
          b = bit(a, i) ? b | one : b & ~one;
        }
        return b;
      },
      ", 5");
}

TEST(PtxBits, counts_and_fields) {
  expect_counts<std::uint32_t>("b32");
  expect_counts<std::uint64_t>("b64");
  expect_extract<std::uint32_t>("u32");
  expect_extract<std::uint64_t>("u64");
  expect_extract<std::int32_t>("s32");
  expect_extract<std::int64_t>("s64");
  expect_insert<std::uint32_t>("b32");
  expect_insert<std::uint64_t>("b64");
  expect_op<U32, std::int32_t>("bfind.s32", [](std::int32_t a) {
    for (unsigned n = 31; n-- > 0;)
      if (bit(a, n) != (a < 0)) return U32{n};
    return ~U32{0};
  });
}

TEST(PtxBits, any_function_of_three) {
  expect_op<U32, U32, U32, U32>(
      "lop3.b32", [](U32 a, U32 b, U32 c) { return (a & b) ^ c; }, ", 0x6a");
  expect_op<U32, U32, U32, U32>(
      "lop3.b32", [](U32 a, U32 b, U32 c) { return a ^ b ^ c; }, ", 0x96");
  expect_op<U32, U32, U32, U32>(
      "lop3.b32", [](U32 a, U32 b, U32 c) { return ~a | (b & ~c); }, ", 0x4f");
}

TEST(PtxBits, funnels_and_bytes) {
  using U64 = std::uint64_t;
  auto const pair = [](U32 a, U32 b) { return U64{b} << 32 | a; };
  static auto const joined = pair;
  expect_op<U32, U32, U32, U32>("shf.l.wrap.b32", [](U32 a, U32 b, U32 c) {
    return static_cast<U32>(joined(a, b) >> (32 - c % 32));
  });
  expect_op<U32, U32, U32, U32>("shf.r.wrap.b32", [](U32 a, U32 b, U32 c) {
    return static_cast<U32>(joined(a, b) >> c % 32);
  });
  expect_op<U32, U32, U32, U32>("shf.l.clamp.b32", [](U32 a, U32 b, U32 c) {
    return static_cast<U32>(joined(a, b) >> (32 - std::min(c, 32u)));
  });
  expect_op<U32, U32, U32, U32>("shf.r.clamp.b32", [](U32 a, U32 b, U32 c) {
    return static_cast<U32>(joined(a, b) >> std::min(c, 32u));
  });
  expect_op<U32, U32, U32, U32>("prmt.b32", [](U32 a, U32 b, U32 c) {
    U32 result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      auto const byte = joined(a, b) >> (c >> (4 * i) & 7) * 8 & 0xff;
      auto const sign = byte >= 128 ? U32{0xff} : U32{0};
      result |= (bit(c, 4 * i + 3) ? sign : static_cast<U32>(byte)) << (8 * i);
    }
    return result;
  });
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_bits_test
