// Tests setp of all types, alone and combined with a predicate.
#include <cmath>

#include "base/bf16.hpp"
#include "base/f16.hpp"
#include "tests/unit/ptx/op_case.hpp"

namespace spillway::test::ptx::ptx_comparisons_test {
namespace {

using U32 = std::uint32_t;

// Predicates are stored as words, as op_case.hpp does.
template <class T>
void expect_compare(std::string const& name, std::type_identity_t<bool (*)(T, T)> f) {
  auto const width = static_cast<char>('0' + sizeof(T));
  auto const widths = std::string("p") + width + width;
  auto const operands = operands_for(widths);
  auto const found = run_op("setp." + name, widths, operands);
  for (std::size_t i = 0; i < operands.size(); ++i)
    ASSERT_EQ(found[i] != 0, f(from_bits<T>(operands[i][0]), from_bits<T>(operands[i][1])))
        << name << std::hex << " " << operands[i][0] << " " << operands[i][1];
}

template <class T>
void expect_order(std::string const& type) {
  expect_compare<T>("eq." + type, [](T a, T b) { return a == b; });
  expect_compare<T>("ne." + type, [](T a, T b) { return a < b || a > b; });
  expect_compare<T>("lt." + type, [](T a, T b) { return a < b; });
  expect_compare<T>("le." + type, [](T a, T b) { return a <= b; });
  expect_compare<T>("gt." + type, [](T a, T b) { return a > b; });
  expect_compare<T>("ge." + type, [](T a, T b) { return a >= b; });
}
template <class T>
void expect_unordered(std::string const& type) {
  expect_order<T>(type);
  expect_compare<T>("equ." + type, [](T a, T b) { return !(a < b || a > b); });
  expect_compare<T>("neu." + type, [](T a, T b) { return !(a == b); });
  expect_compare<T>("ltu." + type, [](T a, T b) { return !(a >= b); });
  expect_compare<T>("leu." + type, [](T a, T b) { return !(a > b); });
  expect_compare<T>("gtu." + type, [](T a, T b) { return !(a <= b); });
  expect_compare<T>("geu." + type, [](T a, T b) { return !(a < b); });
  expect_compare<T>("num." + type, [](T a, T b) { return a == a && b == b; });
  expect_compare<T>("nan." + type, [](T a, T b) { return a != a || b != b; });
}

TEST(PtxComparisons, of_numbers) {
  expect_order<std::uint16_t>("u16");
  expect_order<std::uint32_t>("u32");
  expect_order<std::uint64_t>("u64");
  expect_order<std::int16_t>("s16");
  expect_order<std::int32_t>("s32");
  expect_order<std::int64_t>("s64");
  expect_unordered<float>("f32");
  expect_unordered<double>("f64");
  expect_compare<U32>("lo.u32", [](U32 a, U32 b) { return a < b; });
}

void expect_combined(std::string const& name, bool (*f)(bool, bool)) {
  auto const operands = operands_for("p44p");
  auto const found = run_op("setp.lt." + name + ".s32", "p44p", operands);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    bool const less =
        static_cast<std::int32_t>(operands[i][0]) < static_cast<std::int32_t>(operands[i][1]);
    ASSERT_EQ(found[i] != 0, f(less, operands[i][2] != 0)) << name;
  }
}

TEST(PtxComparisons, are_combined) {
  expect_combined("and", [](bool a, bool b) { return a && b; });
  expect_combined("or", [](bool a, bool b) { return a || b; });
  expect_combined("xor", [](bool a, bool b) { return a != b; });
}

TEST(PtxComparisons, flush_subnormals) {
  expect_compare<float>(
      "gt.ftz.f32", [](float a, float b) { return without_subnormal(a) > without_subnormal(b); });
  expect_compare<float>("neu.ftz.f32", [](float a, float b) {
    return !(without_subnormal(a) == without_subnormal(b));
  });
}

template <class Half>
void expect_halves(std::string const& type) {
  using U16 = std::uint16_t;
  expect_compare<U16>("lt." + type,
                      [](U16 a, U16 b) { return to_float(Half{a}) < to_float(Half{b}); });
  expect_compare<U16>("ge." + type,
                      [](U16 a, U16 b) { return to_float(Half{a}) >= to_float(Half{b}); });
  expect_compare<U16>("neu." + type,
                      [](U16 a, U16 b) { return to_float(Half{a}) != to_float(Half{b}); });
  expect_compare<U16>("nan." + type, [](U16 a, U16 b) {
    return std::isnan(to_float(Half{a})) || std::isnan(to_float(Half{b}));
  });
}

// The lower halves give the first result, the upper ones the second.
template <class Half>
void expect_pairs(std::string const& type) {
  auto const operands = operands_for("p44");
  auto const first = run_op("setp.gt." + type, "p44", operands);
  auto const second = run_op("setp.gt." + type + " %q7|", "p44", operands);
  auto const at = [](std::uint64_t word, unsigned shift) {
    return to_float(Half{static_cast<std::uint16_t>(word >> shift)});
  };
  for (std::size_t i = 0; i < operands.size(); ++i) {
    auto const [a, b, c] = operands[i];
    ASSERT_EQ(first[i] != 0, at(a, 0) > at(b, 0)) << type;
    ASSERT_EQ(second[i] != 0, at(a, 16) > at(b, 16)) << type;
  }
}

TEST(PtxComparisons, of_halves) {
  expect_halves<f16>("f16");
  expect_halves<bf16>("bf16");
  expect_pairs<f16>("f16x2");
  expect_pairs<bf16>("bf16x2");
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_comparisons_test
