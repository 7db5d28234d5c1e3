// Tests branches, loops, barriers and turns.
#include <set>

#include "tests/unit/ptx/results.hpp"

namespace spillway::test::ptx::ptx_flow_test {
namespace {

TEST(PtxFlow, lanes_part_and_meet) {
  expect_results(
      "setp.lt.u32 %q0, %r31, 7; @%q0 bra FEW; mov.u32 %r10, 1; bra MEET;\n"
      "FEW: mov.u32 %r10, 2;\nMEET:",
      {.block = {32}}, [](unsigned i) { return i < 7 ? 2u : 1u; });
}

// Counts Collatz steps, within which a loop runs whose length differs by lane and turn.
TEST(PtxFlow, loops_within_loops) {
  auto const expected = [](unsigned i) {
    unsigned sum = 0;
    for (unsigned x = i + 1; x != 1; x = x % 2 == 0 ? x / 2 : 3 * x + 1)
      for (unsigned k = 0; k <= x % 5; ++k) sum += k;
    return sum;
  };
  expect_results(
      "add.u32 %r4, %r31, 1; mov.u32 %r10, 0;\n"
      "OUTER: setp.eq.u32 %q0, %r4, 1; @%q0 bra DONE;\n"
      "rem.u32 %r5, %r4, 5; mov.u32 %r6, 0;\n"
      "INNER: add.u32 %r10, %r10, %r6; add.u32 %r6, %r6, 1; setp.le.u32 %q1, %r6, %r5;\n"
      "@%q1 bra.uni INNER;\n"
      "and.b32 %r7, %r4, 1; setp.eq.u32 %q2, %r7, 0; @%q2 bra EVEN;\n"
      "mad.lo.u32 %r4, %r4, 3, 1; bra OUTER;\nEVEN: shr.u32 %r4, %r4, 1; bra OUTER;\nDONE:",
      {.grid = {3}, .block = {80}}, expected);
}

TEST(PtxFlow, barriers_let_all_see_all) {
  expect_results(
      "mov.u32 %r4, tile; shl.b32 %r5, %r3, 2; add.u32 %r5, %r5, %r4; st.shared.u32 [%r5], %r31;\n"
      "bar.sync 0; sub.u32 %r6, 99, %r3; shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r4;\n"
      "ld.shared.u32 %r10, [%r6];",
      {.grid = {2}, .block = {100}}, [](unsigned i) { return i / 100 * 100 + 99 - i % 100; },
      ".shared .align 4 .b8 tile[400];\n");
}

TEST(PtxFlow, some_lanes_end_before_others) {
  Memory memory;
  Buffer<std::uint32_t> const out(memory, "out", std::vector<std::uint32_t>(64, 5));
  run(kernel_text(1,
                  "add.u64 %d1, %p0, %d31; setp.gt.u32 %q0, %r31, 40; @%q0 exit;\n"
                  "st.global.u32 [%d1], 6; ret;"),
      memory, {.block = {64}}, {out.address()});
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(out.values()[i], i > 40 ? 5u : 6u);
}

// One lane holds the lock while the others of its warp spin, which must not keep it from going on.
TEST(PtxFlow, no_lane_starves) {
  expect_results(
      "mov.u32 %r4, lock; setp.ne.u32 %q0, %r3, 0; @%q0 bra READY; st.shared.u32 [%r4], 0;\n"
      "st.shared.u32 [%r4+4], 0;\nREADY: bar.sync 0;\n"
      "AGAIN: nanosleep.u32 20; atom.shared.cas.b32 %r5, [%r4], 0, 1; setp.ne.u32 %q1, %r5, 0; "
      "@%q1 bra AGAIN;\n"
      "atom.shared.add.u32 %r6, [%r4+4], 1; membar.cta; atom.shared.exch.b32 %r5, [%r4], 0;\n"
      "bar.sync 0; ld.shared.u32 %r10, [%r4+4];",
      {.block = {64}}, [](unsigned) { return 64u; }, ".shared .align 4 .b8 lock[8];\n");
}

TEST(PtxFlow, a_seed_gives_one_order) {
  auto const body = std::string("atom.shared.add.u32 %r10, [%r4], 1;");
  auto const text =
      "mov.u32 %r4, n; setp.eq.u32 %q0, %r3, 0; @%q0 st.shared.u32 [%r4], 0;\n"
      "bar.sync 0;\n" +
      body;
  auto const variable = ".shared .align 4 .b8 n[4];\n";
  auto const of = [&](std::uint64_t seed) {
    return results(text, {.block = {256}, .seed = seed}, variable);
  };
  EXPECT_EQ(of(1), of(1));
  std::set<std::vector<std::uint32_t>> orders;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) orders.insert(of(seed));
  EXPECT_GT(orders.size(), 1u);
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_flow_test
