// Tests whom barriers of some warps of a block order, and what is wrong with them.
#include "tests/unit/ptx/ptx_case.hpp"

namespace spillway::test::ptx::ptx_barriers_test {
namespace {

// A body in which %q0 is true in warps 0 and 1 of four, and %r5 is the address of a word per thread
// among 64, %r6 that of the thread 32 further.
std::string text_of(std::string const& body) {
  return kernel_text(
      1,
      "mov.u32 %r2, tile; mov.u32 %r3, %tid.x; setp.lt.u32 %q0, %r3, 64; and.b32 %r4, %r3, 63;\n"
      "shl.b32 %r5, %r4, 2; xor.b32 %r6, %r5, 128; add.u32 %r5, %r5, %r2; add.u32 %r6, %r6, %r2;\n"
      "@!%q0 add.u32 %r5, %r5, 256; @!%q0 add.u32 %r6, %r6, 256; mov.u32 %r7, 2;\n"
      "selp.b32 %r8, 1, 2, %q0; mov.u32 %r9, 64; add.u64 %d1, %p0, %d31;\n" +
          body + "\nret;",
      ".shared .align 16 .b8 tile[512];\n");
}

void expect_complaint(std::string const& body, std::string const& expected) {
  LaunchSettings settings{.block = {128}};
  for (settings.seed = 1; settings.seed <= kSeeds; ++settings.seed) {
    auto const found = complaint_of(text_of(body), settings);
    EXPECT_TRUE(expected.empty() ? found.empty() : found.find(expected) != found.npos)
        << body << ": " << found;
  }
}

constexpr char const* kWrite = "st.shared.u32 [%r5], %r3;\n";
constexpr char const* kRead = "ld.shared.u32 %r10, [%r6]; st.global.u32 [%d1], %r10;\n";

TEST(PtxBarriers, order_the_warps_that_pass_them_together) {
  expect_complaint(std::string(kWrite) + "bar.sync %r8, %r9;\n" + kRead, "");
  expect_complaint(std::string(kWrite) + "@%q0 bar.sync 1, 64;\n@!%q0 bar.sync 2, 64;\n" + kRead,
                   "");
  expect_complaint(std::string(kWrite) + "@%q0 bar.sync 1, 64;\n" + kRead, "a race");
  // A barrier that one pair of warps passes orders neither the other pair nor the two pairs.
  expect_complaint(std::string(kWrite) + "bar.sync %r8, 64; xor.b32 %r6, %r6, 256;\n" + kRead,
                   "a race");
  expect_complaint(
      std::string(kWrite) + "bar.sync %r8, 64; bar.sync 0; xor.b32 %r6, %r6, 256;\n" + kRead, "");
}

// Warp 0 meets warp 1, which then meets warp 2: what warp 0 did is over for warp 2.
TEST(PtxBarriers, pass_on_what_is_over) {
  auto const chain = std::string(
      "shr.u32 %r11, %r3, 5; setp.eq.u32 %q1, %r11, 0; setp.eq.u32 %q2, %r11, 1;\n"
      "setp.eq.u32 %q3, %r11, 2; @%q1 st.shared.u32 [%r5], %r3;\n"
      "@%q1 bar.sync 1, 64; @%q2 bar.sync 1, 64;\n");
  auto const read = std::string(
      "@%q3 and.b32 %r12, %r3, 31; @%q3 shl.b32 %r12, %r12, 2;\n"
      "@%q3 add.u32 %r12, %r12, %r2; @%q3 ld.shared.u32 %r10, [%r12];\n");
  auto const second = std::string("@%q2 bar.sync 2, 64; @%q3 bar.sync 2, 64;\n");
  expect_complaint(chain + second + read, "");
  expect_complaint(chain + read + second, "a race");
}

TEST(PtxBarriers, have_numbers_and_counts) {
  expect_complaint("bar.sync %r8, 64;", "");
  expect_complaint("bar.sync 15, 128;", "");
  expect_complaint("barrier.sync %r8, %r9; barrier.sync 0;", "");
  expect_complaint("bar.sync 16;", "there is no barrier 16");
  expect_complaint("bar.sync 1, 48;", "a barrier of 48 threads");
  expect_complaint("bar.sync 1, 160;", "a barrier of 160 threads");
  expect_complaint("bar.sync %laneid;", "the barrier's number differs");
  expect_complaint("bar.sync %r20;", "the barrier's number was never written");
  expect_complaint("@%q0 bar.sync 1, 64; @!%q0 bar.sync 1, 128;", "waits for");
  expect_complaint("@%q0 bar.sync 1, 96;", "waits at a barrier, and warp");
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_barriers_test
