// Tests what atom and red leave in memory, and what they return.
#include "tests/unit/ptx/op_case.hpp"

namespace spillway::test::ptx::ptx_atomics_test {
namespace {

template <class T>
using Update = T (*)(T old, T b, T c);

// Each thread has a word of its own. The old value, b and c are the operands of op_case.hpp.
template <class T>
void expect_atomic(std::string const& name, std::type_identity_t<Update<T>> updated,
                   bool has_third = false) {
  auto const width = std::to_string(sizeof(T));
  auto const operands = operands_for(width + width + width + width, 256);
  for (std::string const opcode : {"atom.global.", "atom.", "red.global."}) {
    bool const returns = opcode != "red.global.";
    if (!returns && (has_third || name.starts_with("exch"))) continue;
    std::vector<std::uint64_t> old, b, c;
    for (auto const& each : operands) {
      old.push_back(each[0]);
      b.push_back(each[1]);
      c.push_back(each[2]);
    }
    Memory memory;
    Buffer<std::uint64_t> const words(memory, "words", old), second(memory, "b", b),
        third(memory, "c", c), results(memory, "results", std::vector<std::uint64_t>(256));
    auto const bits = 8 * sizeof(T);
    run(kernel_text(
            4,
            fmt::format(".reg .b{} %v<3>; shl.b64 %d0, %d31, 1;\n", bits) +
                "add.u64 %d1, %p0, %d0; add.u64 %d2, %p1, %d0; add.u64 %d3, %p2, %d0;\n"
                "add.u64 %d4, %p3, %d0;\n" +
                fmt::format("ld.global.b{} %v1, [%d2]; ld.global.b{} %v2, [%d3];\n", bits, bits) +
                fmt::format("{}{} {}[%d1], %v1{};\n", opcode, name, returns ? "%v0, " : "",
                            has_third ? ", %v2" : "") +
                (returns ? fmt::format("st.global.b{} [%d4], %v0;\n", bits) : "") + "ret;"),
        memory, {.grid = {8}, .block = {32}},
        {words.address(), second.address(), third.address(), results.address()});
    for (std::size_t i = 0; i < operands.size(); ++i) {
      auto const before = from_bits<T>(old[i]);
      auto const expected = updated(before, from_bits<T>(b[i]), from_bits<T>(c[i]));
      ASSERT_TRUE(same(from_bits<T>(words.values()[i]), expected)) << opcode << name << " " << i;
      if (returns) {
        ASSERT_EQ(results.values()[i], old[i]) << opcode << name;
      }
    }
  }
}

template <class T>
void expect_order(std::string const& type) {
  expect_atomic<T>("min." + type, [](T a, T b, T) { return std::min(a, b); });
  expect_atomic<T>("max." + type, [](T a, T b, T) { return std::max(a, b); });
}
template <class T>
void expect_bits(std::string const& type) {
  expect_atomic<T>("and." + type, [](T a, T b, T) { return a & b; });
  expect_atomic<T>("or." + type, [](T a, T b, T) { return a | b; });
  expect_atomic<T>("xor." + type, [](T a, T b, T) { return a ^ b; });
  expect_atomic<T>("exch." + type, [](T, T b, T) { return b; });
  expect_atomic<T>(
      "cas." + type, [](T a, T b, T c) { return a == b ? c : a; }, true);
}

TEST(PtxAtomics, update_and_return_what_was_there) {
  using U32 = std::uint32_t;
  expect_order<std::uint32_t>("u32");
  expect_order<std::int32_t>("s32");
  expect_order<std::uint64_t>("u64");
  expect_order<std::int64_t>("s64");
  expect_bits<std::uint32_t>("b32");
  expect_bits<std::uint64_t>("b64");
  expect_atomic<std::uint16_t>(
      "cas.b16", [](auto a, auto b, auto c) { return a == b ? c : a; }, true);
  expect_atomic<U32>("add.u32", [](U32 a, U32 b, U32) { return a + b; });
  expect_atomic<U32>("add.s32", [](U32 a, U32 b, U32) { return a + b; });
  expect_atomic<std::uint64_t>("add.u64", [](auto a, auto b, auto) { return a + b; });
  expect_atomic<U32>("inc.u32", [](U32 a, U32 b, U32) { return a >= b ? 0 : a + 1; });
  expect_atomic<U32>("dec.u32", [](U32 a, U32 b, U32) { return a == 0 || a > b ? b : a - 1; });
  expect_atomic<float>("add.f32", [](float a, float b, float) {
    return canonical(without_subnormal(without_subnormal(a) + without_subnormal(b)));
  });
  expect_atomic<double>("add.f64", [](double a, double b, double) { return a + b; });
}

TEST(PtxAtomics, sums_in_shared_memory_keep_subnormal_numbers) {
  Memory memory;
  Buffer<std::uint32_t> const out(memory, "out", std::vector<std::uint32_t>(1));
  run(kernel_text(1,
                  "mov.u32 %r2, word; st.shared.u32 [%r2], 1; bar.sync 0;\n"
                  "red.shared.add.f32 [%r2], 0f00000002;\n"
                  "ld.shared.u32 %r0, [%r2]; st.global.u32 [%p0], %r0; ret;",
                  ".shared .align 4 .b8 word[4];\n"),
      memory, {.block = {1}}, {out.address()});
  EXPECT_EQ(out.values()[0], 3u);
}

TEST(PtxAtomics, sums_of_many_threads_are_whole) {
  Memory memory;
  Buffer<std::uint32_t> const out(memory, "out", std::vector<std::uint32_t>(3));
  run(kernel_text(1,
                  "red.global.add.u32 [%p0], %r31; atom.global.max.u32 %r0, [%p0+4], %r31;\n"
                  "atom.global.inc.u32 %r1, [%p0+8], 9; ret;"),
      memory, {.grid = {5}, .block = {40}}, {out.address()});
  EXPECT_EQ(out.values(), (std::vector<std::uint32_t>{200 * 199 / 2, 199, 0}));
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_atomics_test
