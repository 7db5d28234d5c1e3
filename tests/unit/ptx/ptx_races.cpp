// Tests that races in shared and in global memory are found.
#include "tests/unit/ptx/ptx_case.hpp"

namespace spillway::test::ptx::ptx_races_test {
namespace {

constexpr char const* kShared = ".shared .align 16 .b8 tile[1024];\n";

bool races(std::string const& body, LaunchSettings const& settings) {
  auto const text = kernel_text(1,
                                "add.u64 %d1, %p0, %d31; mov.u32 %r2, tile; mov.u32 %r3, %tid.x;\n"
                                "shl.b32 %r4, %r3, 2; add.u32 %r4, %r4, %r2;\n" +
                                    body + "\nret;",
                                kShared);
  auto const found = complaint_of(text, settings);
  bool const is_silent = found.empty();
  EXPECT_TRUE(is_silent || found.find("a race") != found.npos) << found;
  return !is_silent;
}

void expect_race(bool expected, std::string const& body, LaunchSettings settings) {
  for (settings.seed = 1; settings.seed <= kSeeds; ++settings.seed)
    EXPECT_EQ(races(body, settings), expected) << body;
}

// Computes the address of the word of the thread that is so many further, among 64.
std::string of_other(unsigned distance) {
  return fmt::format(
      "add.u32 %r5, %r3, {}; and.b32 %r5, %r5, 63; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, %r2;\n",
      distance);
}

TEST(PtxRaces, warps_need_a_barrier) {
  auto const far = of_other(32);
  LaunchSettings const two_warps{.block = {64}};
  auto const write = std::string("st.shared.u32 [%r4], %r3;\n");
  auto const read = std::string("ld.shared.u32 %r6, [%r5];\n");
  expect_race(true, far + write + read, two_warps);
  expect_race(false, far + write + "bar.sync 0;\n" + read, two_warps);
  expect_race(true, far + write + "bar.sync 0;\n" + read + write, two_warps);
  expect_race(false, far + write + "bar.sync 0;\n" + read + "bar.sync 0;\n" + write, two_warps);
  expect_race(true, far + write + "bar.warp.sync -1;\n" + read, two_warps);
}

TEST(PtxRaces, lanes_need_a_synchronisation) {
  auto const near = of_other(1);
  LaunchSettings const one_warp{.block = {32}};
  auto const write = std::string("st.shared.u32 [%r4], %r3;\n");
  auto const read = std::string("setp.lt.u32 %q0, %r3, 31; @%q0 ld.shared.u32 %r6, [%r5];\n");
  expect_race(true, near + write + read, one_warp);
  expect_race(false, near + write + "bar.warp.sync -1;\n" + read, one_warp);
  // With these masks each lane waits for itself alone.
  expect_race(true, near + write + "mov.u32 %r7, %lanemask_eq; bar.warp.sync %r7;\n" + read,
              one_warp);
  // All lanes write one word.
  expect_race(true, "st.shared.u32 [%r2], %r3;", one_warp);
}

// Of several readers, any may be the one that a writer must wait for.
TEST(PtxRaces, all_readers_count) {
  LaunchSettings const warps{.block = {128}};
  auto const all_read = std::string(
      "setp.eq.u32 %q0, %r3, 0; @%q0 st.shared.u32 [%r2], %r3;\n"
      "bar.sync 0; ld.shared.u32 %r6, [%r2];\n");
  for (unsigned const writer : {0u, 5u, 31u, 32u, 127u}) {
    auto const write =
        fmt::format("setp.eq.u32 %q1, %r3, {}; @%q1 st.shared.u32 [%r2], %r3;\n", writer);
    expect_race(true, all_read + write, warps);
    expect_race(true, all_read + "bar.warp.sync -1;\n" + write, warps);
    expect_race(false, all_read + "bar.sync 0;\n" + write, warps);
  }
}

TEST(PtxRaces, bytes_of_a_word_are_apart) {
  LaunchSettings const one_warp{.block = {32}};
  expect_race(false, "add.u32 %r5, %r3, %r2; st.shared.u8 [%r5], %r3;", one_warp);
  expect_race(true,
              "add.u32 %r5, %r3, %r2; st.shared.u8 [%r5], %r3;\n"
              "setp.eq.u32 %q0, %r3, 0; @%q0 ld.shared.u32 %r6, [%r2];",
              one_warp);
}

TEST(PtxRaces, blocks_are_never_ordered) {
  LaunchSettings blocks{.grid = {4}, .block = {32}};
  auto const own = std::string("st.global.u32 [%d1], %r3;\n");
  expect_race(false, own + "ld.global.u32 %r6, [%d1];", blocks);
  // The last thread of each block reads the first word of the next block.
  auto const next = std::string("setp.eq.u32 %q0, %r3, 31; @%q0 ld.global.u32 %r6, [%d1+4];");
  expect_race(true, own + next, blocks);
  expect_race(true, own + "bar.sync 0; " + next, blocks);
  expect_race(false, "ld.global.u32 %r6, [%p0];", blocks);
  blocks.global_races = false;
  expect_race(false, own + next, blocks);
}

TEST(PtxRaces, atomic_operations_may_meet_each_other) {
  LaunchSettings const blocks{.grid = {4}, .block = {64}};
  expect_race(false, "red.global.add.u32 [%p0], %r3; atom.global.cas.b32 %r6, [%p0], 0, 1;",
              blocks);
  expect_race(false, "red.global.add.u32 [%p0], 1; ld.relaxed.gpu.global.u32 %r6, [%p0];", blocks);
  expect_race(true, "red.global.add.u32 [%p0], 1; ld.global.u32 %r6, [%p0];", blocks);
  // One block's plain access races with the other's atomic one, whatever follows it.
  LaunchSettings const two_threads{.grid = {2}, .block = {1}};
  auto const first = std::string("mov.u32 %r5, %ctaid.x; setp.eq.u32 %q0, %r5, 0;\n@%q0 ");
  auto const atomic = std::string("red.global.add.u32 [%p0], 1;\n");
  expect_race(true, first + "st.global.u32 [%p0], 1;\n" + atomic, two_threads);
  expect_race(true,
              first + "ld.global.u32 %r6, [%p0];\n@%q0 ld.relaxed.gpu.global.u32 %r6, [%p0];" +
                  "@!%q0 " + atomic,
              two_threads);
  expect_race(false,
              "setp.eq.u32 %q0, %r3, 0; @%q0 st.shared.u32 [%r2], 0; bar.sync 0;\n"
              "atom.shared.add.u32 %r6, [%r2], 1;",
              blocks);
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_races_test
