// Branches, loops, barriers and what warps tell each other.
#include <set>

#include "tests/unit/ptx/ptx_case.hpp"

namespace spillway::test::ptx::ptx_flow_test {
namespace {

// Runs a body that leaves its result in %r10, for each thread.
std::vector<std::uint32_t> results(std::string const& body, LaunchSettings const& settings,
                                   std::string const& variables = "") {
  auto const threads = settings.grid.count() * settings.block.count();
  Memory memory;
  Buffer<std::uint32_t> const out(memory, "out", std::vector<std::uint32_t>(threads), false);
  auto const text = kernel_text(
      1,
      "add.u64 %d1, %p0, %d31; mov.u32 %r3, %tid.x;\n" + body + "\nst.global.u32 [%d1], %r10; ret;",
      variables);
  run(text, memory, settings, {out.address()});
  EXPECT_TRUE(out.all_known());
  return out.values();
}

template <class F>
void expect_results(std::string const& body, LaunchSettings settings, F const& expected,
                    std::string const& variables = "") {
  for (settings.seed = 1; settings.seed <= kSeeds; ++settings.seed) {
    auto const found = results(body, settings, variables);
    for (unsigned i = 0; i < found.size(); ++i)
      ASSERT_EQ(found[i], expected(i)) << i << "\n" << body;
  }
}

TEST(PtxFlow, lanes_part_and_meet) {
  expect_results(
      "setp.lt.u32 %q0, %r31, 7; @%q0 bra FEW; mov.u32 %r10, 1; bra MEET;\n"
      "FEW: mov.u32 %r10, 2;\nMEET:",
      {.block = {32}}, [](unsigned i) { return i < 7 ? 2u : 1u; });
}

// Collatz steps, and beneath them a loop whose length differs by lane and turn.
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

// One lane holds the lock, the others of its warp spin before it.
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

TEST(PtxFlow, atomic_sums_are_whole) {
  Memory memory;
  Buffer<std::uint32_t> const out(memory, "out", std::vector<std::uint32_t>(3));
  run(kernel_text(1,
                  "red.global.add.u32 [%p0], %r31; atom.global.max.u32 %r0, [%p0+4], %r31;\n"
                  "atom.global.inc.u32 %r1, [%p0+8], 9; ret;"),
      memory, {.grid = {5}, .block = {40}}, {out.address()});
  EXPECT_EQ(out.values(), (std::vector<std::uint32_t>{200 * 199 / 2, 199, 0}));
}

TEST(PtxFlow, shuffles) {
  LaunchSettings const warp{.block = {32}};
  expect_results("shfl.sync.bfly.b32 %r10, %r3, 5, 0x1f, -1;", warp,
                 [](unsigned i) { return i ^ 5; });
  expect_results("shfl.sync.up.b32 %r10|%q0, %r3, 3, 0, -1; @!%q0 mov.u32 %r10, 77;", warp,
                 [](unsigned i) { return i < 3 ? 77 : i - 3; });
  expect_results("shfl.sync.down.b32 %r10, %r3, 3, 0x181f, -1;", warp,
                 [](unsigned i) { return i % 8 < 5 ? i + 3 : i; });
  expect_results("shfl.sync.idx.b32 %r10, %r3, 2, 0x181f, -1;", warp,
                 [](unsigned i) { return i / 8 * 8 + 2; });
  expect_results(
      "setp.lt.u32 %q0, %r3, 16; mov.u32 %r10, 0; selp.b32 %r4, 0xffff, 0xffff0000, %q0;\n"
      "shfl.sync.bfly.b32 %r10, %r3, 1, 0x1f, %r4;",
      warp, [](unsigned i) { return i ^ 1; });
}

TEST(PtxFlow, votes_and_matches) {
  LaunchSettings const warp{.block = {32}};
  expect_results("activemask.b32 %r10;", {.block = {20}}, [](unsigned) { return 0xfffffu; });
  auto const even = std::string("and.b32 %r4, %r3, 1; setp.eq.u32 %q0, %r4, 0;\n");
  auto const as_number = std::string("selp.u32 %r10, 1, 0, %q1;");
  expect_results(even + "vote.sync.ballot.b32 %r10, %q0, -1;", warp,
                 [](unsigned) { return 0x55555555u; });
  expect_results(even + "vote.sync.any.pred %q1, %q0, -1;" + as_number, warp,
                 [](unsigned) { return 1u; });
  expect_results(even + "vote.sync.all.pred %q1, !%q0, -1;" + as_number, warp,
                 [](unsigned) { return 0u; });
  expect_results("shr.u32 %r4, %r3, 3; match.any.sync.b32 %r10, %r4, -1;", warp,
                 [](unsigned i) { return 0xffu << (i / 8 * 8); });
  expect_results("mov.u32 %r4, 3; match.all.sync.b32 %r10|%q1, %r4, -1; @!%q1 mov.u32 %r10, 5;",
                 warp, [](unsigned) { return ~0u; });
  expect_results("redux.sync.add.s32 %r10, %r3, -1;", warp, [](unsigned) { return 496u; });
  expect_results("redux.sync.max.u32 %r10, %r3, -1;", warp, [](unsigned) { return 31u; });
}

TEST(PtxFlow, one_lane_is_elected) {
  expect_results("elect.sync %r10|%q0, -1; @!%q0 add.u32 %r10, %r10, 7;", {.block = {32}},
                 [](unsigned i) { return i == 0 ? 0u : 7u; });
  expect_results(
      "setp.ge.u32 %q1, %r3, 5; mov.u32 %r10, 1; @%q1 elect.sync _|%q0, 0xffffffe0;\n"
      "@!%q1 setp.ne.u32 %q0, %r3, %r3; @%q0 mov.u32 %r10, 2;",
      {.block = {32}}, [](unsigned i) { return i == 5 ? 2u : 1u; });
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
