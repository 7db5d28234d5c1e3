// Tests what lanes of a warp tell each other.
#include "tests/unit/ptx/results.hpp"

namespace spillway::test::ptx::ptx_exchanges_test {
namespace {

TEST(PtxExchanges, shuffles) {
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

TEST(PtxExchanges, votes_and_matches) {
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
  expect_results("mov.b64 %d2, {%r3, 7}; match.any.sync.b64 %r10, %d2, -1;", warp,
                 [](unsigned i) { return 1u << i; });
  expect_results(even + "vote.sync.uni.pred %q1, %q0, -1;" + as_number, warp,
                 [](unsigned) { return 0u; });
  expect_results("setp.lt.u32 %q0, %r3, 0; vote.sync.uni.pred %q1, %q0, -1;" + as_number, warp,
                 [](unsigned) { return 1u; });
  expect_results("setp.ge.u32 %q0, %r3, 0; vote.sync.all.pred %q1, %q0, -1;" + as_number, warp,
                 [](unsigned) { return 1u; });
}

// Lanes have the numbers from -16 to 15. The last reduction is over the lanes of a mask alone.
TEST(PtxExchanges, reductions) {
  LaunchSettings const warp{.block = {32}};
  auto const reduce = [&](std::string const& how, std::uint32_t expected) {
    expect_results("sub.s32 %r4, %r3, 16; redux.sync." + how + " %r10, %r4, -1;", warp,
                   [&](unsigned) { return expected; });
  };
  reduce("add.s32", -16u);
  reduce("add.u32", -16u);
  reduce("min.s32", -16u);
  reduce("max.s32", 15);
  reduce("min.u32", 0);
  reduce("max.u32", ~0u);
  reduce("and.b32", 0);
  reduce("or.b32", ~0u);
  reduce("xor.b32", 0);
  expect_results(
      "setp.lt.u32 %q0, %r3, 5; selp.b32 %r5, 31, 0xffffffe0, %q0; redux.sync.add.u32 %r10, %r3, "
      "%r5;",
      warp, [](unsigned i) { return i < 5 ? 10u : 486u; });
}

TEST(PtxExchanges, one_lane_is_elected) {
  expect_results("elect.sync %r10|%q0, -1; @!%q0 add.u32 %r10, %r10, 7;", {.block = {32}},
                 [](unsigned i) { return i == 0 ? 0u : 7u; });
  expect_results(
      "setp.ge.u32 %q1, %r3, 5; mov.u32 %r10, 1; @%q1 elect.sync _|%q0, 0xffffffe0;\n"
      "@!%q1 setp.ne.u32 %q0, %r3, %r3; @%q0 mov.u32 %r10, 2;",
      {.block = {32}}, [](unsigned i) { return i == 5 ? 2u : 1u; });
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_exchanges_test
