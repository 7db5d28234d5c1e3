// Compares sums and products of several registers with what C++ computes in 128 bits.
#include "tests/unit/ptx/op_case.hpp"

namespace spillway::test::ptx::ptx_carries_test {
namespace {

__extension__ using U128 = unsigned __int128;
__extension__ using S128 = __int128;

// Has the unsigned type of the same width, and that width as names of registers have it.
template <class T>
using Bits = std::make_unsigned_t<T>;
template <class T>
bool carries(Bits<T> a, Bits<T> b, bool carry = false) {
  return (U128{a} + b + carry) >> (8 * sizeof(T)) != 0;
}
template <class T>
Bits<T> high(T a, T b) {
  if constexpr (std::is_signed_v<T>)
    return static_cast<Bits<T>>((S128{a} * b) >> (8 * sizeof(T)));
  else
    return static_cast<Bits<T>>((U128{a} * b) >> (8 * sizeof(T)));
}
template <class T>
Bits<T> low(T a, T b) {
  return static_cast<Bits<T>>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

// Writes an instruction that comes before the last opcode, with the operands of op_case.hpp.
template <class T>
std::string first(std::string const& opcode, std::string const& type, bool has_third = false) {
  auto const name = [](unsigned n) { return register_name(static_cast<char>('0' + sizeof(T)), n); };
  return fmt::format("{}.{} {}, {}, {}{}; ", opcode, type, name(5), name(1), name(2),
                     has_third ? ", " + name(3) : "");
}

template <class T>
void expect_sums(std::string const& type) {
  using U = Bits<T>;
  auto const add = first<T>("add.cc", type), sub = first<T>("sub.cc", type);
  expect_op<U, U, U>(add + "addc." + type,
                     [](U a, U b) { return static_cast<U>(a + b + carries<T>(a, b)); });
  expect_op<U, U, U>(add + first<T>("addc.cc", type) + "addc." + type, [](U a, U b) {
    return static_cast<U>(a + b + carries<T>(a, b, carries<T>(a, b)));
  });
  expect_op<U, U, U>(sub + "subc." + type,
                     [](U a, U b) { return static_cast<U>(a - b - (a < b)); });
  expect_op<U, U, U>(sub + first<T>("subc.cc", type) + "subc." + type, [](U a, U b) {
    bool const borrows = a < b;
    return static_cast<U>(a - b - (a < b || (a == b && borrows)));
  });
}

template <class T>
void expect_products(std::string const& type) {
  using U = Bits<T>;
  auto const low_first = first<T>("mad.lo.cc", type, true);
  auto const high_first = first<T>("mad.hi.cc", type, true);
  expect_op<U, T, T, T>(low_first + "madc.hi." + type, [](T a, T b, T c) {
    return static_cast<U>(high(a, b) + static_cast<U>(c) +
                          carries<T>(low(a, b), static_cast<U>(c)));
  });
  expect_op<U, T, T, T>(high_first + "madc.lo." + type, [](T a, T b, T c) {
    return static_cast<U>(low(a, b) + static_cast<U>(c) +
                          carries<T>(high(a, b), static_cast<U>(c)));
  });
  expect_op<U, T, T, T>(low_first + first<T>("madc.hi.cc", type, true) + "madc.lo.cc." + type,
                        [](T a, T b, T c) {
                          bool const one = carries<T>(low(a, b), static_cast<U>(c));
                          bool const two = carries<T>(high(a, b), static_cast<U>(c), one);
                          return static_cast<U>(low(a, b) + static_cast<U>(c) + two);
                        });
}

template <class T>
void expect_all(std::string const& type) {
  expect_sums<T>(type);
  expect_products<T>(type);
}

TEST(PtxCarries, go_from_sum_to_sum) {
  expect_all<std::uint32_t>("u32");
  expect_all<std::int32_t>("s32");
  expect_all<std::uint64_t>("u64");
  expect_all<std::int64_t>("s64");
}

TEST(PtxCarries, are_unknown_before_a_sum_and_a_lanes_own) {
  EXPECT_NE(complaint_of(kernel_text(1, "addc.u32 %r0, 1, 1; st.global.u32 [%p0], %r0; ret;"), {})
                .find("was never written"),
            std::string::npos);
  Memory memory;
  Buffer<std::uint32_t> const out(memory, "out", std::vector<std::uint32_t>(32));
  run(kernel_text(1,
                  "and.b32 %r0, %r31, 1; sub.cc.u32 %r1, 0, %r0; addc.u32 %r2, 0, 0;\n"
                  "add.u64 %d1, %p0, %d31; st.global.u32 [%d1], %r2; ret;"),
      memory, {.block = {32}}, {out.address()});
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out.values()[i], i % 2);
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_carries_test
