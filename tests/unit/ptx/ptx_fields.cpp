// Fields of bits, bytes and funnels, bit by bit.
#include "tests/unit/ptx/op_case.hpp"

namespace spillway::test::ptx::ptx_fields_test {
namespace {

using U32 = std::uint32_t;

template <class T>
bool bit(T x, unsigned n) {
  return (x >> n & 1) != 0;
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

TEST(PtxFields, are_taken_and_put) {
  expect_extract<std::uint32_t>("u32");
  expect_extract<std::uint64_t>("u64");
  expect_extract<std::int32_t>("s32");
  expect_extract<std::int64_t>("s64");
  expect_insert<std::uint32_t>("b32");
  expect_insert<std::uint64_t>("b64");
}

template <class T>
U32 highest(T a) {
  bool const is_negative = std::is_signed_v<T> && a < 0;
  for (unsigned n = 8 * sizeof(T) - (std::is_signed_v<T> ? 1 : 0); n-- > 0;)
    if (bit(a, n) != is_negative) return n;
  return ~U32{0};
}
template <class T>
void expect_find(std::string const& type) {
  expect_op<U32, T>("bfind." + type, highest<T>);
  expect_op<U32, T>("bfind.shiftamt." + type, [](T a) {
    return highest(a) == ~U32{0} ? ~U32{0} : static_cast<U32>(8 * sizeof(T) - 1) - highest(a);
  });
}

TEST(PtxFields, the_highest_bit) {
  expect_find<std::uint32_t>("u32");
  expect_find<std::uint64_t>("u64");
  expect_find<std::int32_t>("s32");
  expect_find<std::int64_t>("s64");
}

TEST(PtxFields, funnels_and_bytes) {
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

// The bytes of b:a from which each mode takes those of its result, the lowest first.
template <unsigned... from>
void expect_permutation(std::string const& mode, unsigned choice) {
  expect_op<U32, U32, U32, U32>(
      "and.b32 %x4_3, %x4_3, -4; or.b32 %x4_3, %x4_3, " + std::to_string(choice) + "; prmt.b32." +
          mode,
      [](U32 a, U32 b, U32) {
        auto const bytes = std::uint64_t{b} << 32 | a;
        U32 result = 0;
        unsigned i = 0;
        ((result |= static_cast<U32>(bytes >> (8 * from) & 0xff) << (8 * i++)), ...);
        return result;
      });
}

TEST(PtxFields, modes_of_permutations) {
  expect_permutation<0, 1, 2, 3>("f4e", 0);
  expect_permutation<3, 4, 5, 6>("f4e", 3);
  expect_permutation<0, 7, 6, 5>("b4e", 0);
  expect_permutation<2, 1, 0, 7>("b4e", 2);
  expect_permutation<2, 2, 2, 2>("rc8", 2);
  expect_permutation<1, 1, 2, 3>("ecl", 1);
  expect_permutation<3, 3, 3, 3>("ecl", 3);
  expect_permutation<0, 1, 1, 1>("ecr", 1);
  expect_permutation<0, 1, 2, 2>("ecr", 2);
  expect_permutation<2, 3, 2, 3>("rc16", 1);
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_fields_test
