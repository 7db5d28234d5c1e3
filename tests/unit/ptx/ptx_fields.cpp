// Compares fields of bits, bytes and funnel shifts with loops over bits.
#include "tests/unit/ptx/op_case.hpp"

namespace spillway::test::ptx::ptx_fields_test {
namespace {

using U32 = std::uint32_t;

template <class T>
bool bit(T x, unsigned n) {
  return (x >> n & 1) != 0;
}

// Extracts a field bit by bit, as PTX ISA describes it.
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

// Says from which bytes of b:a each mode takes those of its result, the lowest first.
struct Permutation {
  char const* mode;
  unsigned from[4][4];  // has a row for each choice
};

void expect_permutation(Permutation const& permutation, unsigned choice) {
  auto const operands = operands_for("4444", 64);
  auto const found = run_op(fmt::format("and.b32 %x4_3, %x4_3, -4; or.b32 %x4_3, %x4_3, {};\n"
                                        "prmt.b32.{}",
                                        choice, permutation.mode),
                            "4444", operands);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    auto const bytes = operands[i][1] << 32 | operands[i][0];
    for (unsigned n = 0; n < 4; ++n)
      ASSERT_EQ(found[i] >> (8 * n) & 0xff, bytes >> (8 * permutation.from[choice][n]) & 0xff)
          << permutation.mode << " " << choice;
  }
}

TEST(PtxFields, modes_of_permutations) {
  for (auto const& permutation :
       std::vector<Permutation>{{"f4e", {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}}},
                                {"b4e", {{0, 7, 6, 5}, {1, 0, 7, 6}, {2, 1, 0, 7}, {3, 2, 1, 0}}},
                                {"rc8", {{0, 0, 0, 0}, {1, 1, 1, 1}, {2, 2, 2, 2}, {3, 3, 3, 3}}},
                                {"ecl", {{0, 1, 2, 3}, {1, 1, 2, 3}, {2, 2, 2, 3}, {3, 3, 3, 3}}},
                                {"ecr", {{0, 0, 0, 0}, {0, 1, 1, 1}, {0, 1, 2, 2}, {0, 1, 2, 3}}},
                                {"rc16", {{0, 1, 0, 1}, {2, 3, 2, 3}, {0, 1, 0, 1}, {2, 3, 2, 3}}}})
    for (unsigned choice = 0; choice < 4; ++choice) expect_permutation(permutation, choice);
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_fields_test
