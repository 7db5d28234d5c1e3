// Tests a product of bf16 matrices with cp.async, ldmatrix and mma.sync, as kernels make it.
#include <cmath>
#include <random>

#include "base/bf16.hpp"
#include "tests/unit/ptx/ptx_case.hpp"

namespace spillway::test::ptx::ptx_matrices_test {
namespace {

// One warp computes C = A B^T for A [16 x depth], B [8 x depth] and C [16 x 8] in fp32. Steps of 16
// columns are copied into one of two tiles while the other is used. Tests leave barriers and waits
// out to plant faults.
std::string gemm_text(std::string const& first_barrier, std::string const& last_barrier,
                      std::string const& wait) {
  return kernel_text(
      3,
      "mov.u32 %r2, tiles; mov.u32 %r3, %tid.x; mov.u32 %r4, 0; mov.u32 %r20, 0;\n"
      "mov.f32 %f0, 0f00000000; mov.f32 %f1, 0f00000000; mov.f32 %f2, 0f00000000;\n"
      "mov.f32 %f3, 0f00000000;\n"
      // Thread t copies 16 bytes of A: row t / 2, half t % 2; the first 16 threads those of B.
      "shr.u32 %r5, %r3, 1; and.b32 %r6, %r3, 1; shl.b32 %r6, %r6, 4;\n"
      "mul.lo.u32 %r7, %r5, 128; add.u32 %r7, %r7, %r6; cvt.u64.u32 %d0, %r7;\n"
      "add.u64 %d1, %p0, %d0; add.u64 %d2, %p1, %d0;\n"
      "shl.b32 %r8, %r5, 5; add.u32 %r8, %r8, %r6; add.u32 %r8, %r8, %r2;\n"
      "setp.lt.u32 %q0, %r3, 16;\n"
      // ldmatrix reads of A row t % 16, half t / 16; of B row t % 8, half t / 8 % 2.
      "and.b32 %r9, %r3, 15; shl.b32 %r9, %r9, 5; shr.u32 %r10, %r3, 4; shl.b32 %r10, %r10, 4;\n"
      "add.u32 %r9, %r9, %r10; add.u32 %r9, %r9, %r2;\n"
      "and.b32 %r11, %r3, 7; shl.b32 %r11, %r11, 5; shr.u32 %r12, %r3, 3; and.b32 %r12, %r12, 1;\n"
      "shl.b32 %r12, %r12, 4; add.u32 %r11, %r11, %r12; add.u32 %r11, %r11, %r2;\n"
      "cp.async.cg.shared.global [%r8], [%d1], 16;\n"
      "@%q0 cp.async.ca.shared.global [%r8+512], [%d2], 16; cp.async.commit_group;\n"
      "STEP: setp.eq.u32 %q1, %r4, 3; @%q1 bra LAST;\n"
      "xor.b32 %r13, %r20, 768; add.u32 %r14, %r8, %r13; add.u64 %d1, %d1, 32; add.u64 %d2, %d2, "
      "32;\n"
      "cp.async.cg.shared.global [%r14], [%d1], 16;\n"
      "@%q0 cp.async.ca.shared.global [%r14+512], [%d2], 16; cp.async.commit_group;\n" +
          wait + "\nbra USE;\nLAST: cp.async.wait_all;\nUSE: " + first_barrier +
          "\nadd.u32 %r15, %r9, %r20; add.u32 %r16, %r11, %r20;\n"
          "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r21, %r22, %r23, %r24}, [%r15];\n"
          "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r25, %r26}, [%r16+512];\n"
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%f0, %f1, %f2, %f3},\n"
          "  {%r21, %r22, %r23, %r24}, {%r25, %r26}, {%f0, %f1, %f2, %f3};\n" +
          last_barrier +
          "\nxor.b32 %r20, %r20, 768; add.u32 %r4, %r4, 1; setp.lt.u32 %q2, %r4, 4; @%q2 bra "
          "STEP;\n"
          "shr.u32 %r5, %r3, 2; and.b32 %r6, %r3, 3; shl.b32 %r6, %r6, 3; shl.b32 %r5, %r5, 5;\n"
          "add.u32 %r5, %r5, %r6; cvt.u64.u32 %d0, %r5; add.u64 %d0, %d0, %p2;\n"
          "st.global.v2.f32 [%d0], {%f0, %f1}; st.global.v2.f32 [%d0+256], {%f2, %f3}; ret;",
      ".shared .align 16 .b8 tiles[1536];\n");
}

constexpr int kDepth = 64;

struct Product {
  Memory memory;
  std::vector<bf16> a = random_values(16 * kDepth, 1), b = random_values(8 * kDepth, 2);
  std::vector<float> found;

  static std::vector<bf16> random_values(int count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<bf16> result;
    for (int i = 0; i < count; ++i)
      result.push_back(to_bf16(static_cast<float>(static_cast<int>(random() % 17) - 8)));
    return result;
  }
  std::string run_with(std::string const& text, std::uint64_t seed) {
    Buffer<bf16> const left(memory, "A", a), right(memory, "B", b);
    Buffer<float> const out(memory, "C", std::vector<float>(128), false);
    try {
      run(text, memory, {.block = {32}, .seed = seed},
          {left.address(), right.address(), out.address()});
    } catch (Complaint const& complaint) {
      return complaint.what();
    }
    EXPECT_TRUE(out.all_known());
    found = out.values();
    return "";
  }
  double expected(int row, int column) const {
    double result = 0;
    for (int k = 0; k < kDepth; ++k)
      result += double{to_float(a[static_cast<std::size_t>(row * kDepth + k)])} *
                to_float(b[static_cast<std::size_t>(column * kDepth + k)]);
    return result;
  }
};

constexpr char const* kBarrier = "bar.sync 0;";
constexpr char const* kWait = "cp.async.wait_group 1;";

TEST(PtxMatrices, a_product_of_bf16) {
  Product product;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    ASSERT_EQ(product.run_with(gemm_text(kBarrier, kBarrier, kWait), seed), "");
    for (int i = 0; i < 128; ++i)
      ASSERT_EQ(product.found[static_cast<std::size_t>(i)], product.expected(i / 8, i % 8)) << i;
  }
}

TEST(PtxMatrices, each_barrier_and_each_wait_is_needed) {
  Product product;
  auto const complains = [&](std::string const& text, char const* words) {
    auto const found = product.run_with(text, 3);
    EXPECT_NE(found.find(words), found.npos) << found;
  };
  complains(gemm_text("", kBarrier, kWait), "a race");
  complains(gemm_text(kBarrier, "", kWait), "a race");
  complains(gemm_text(kBarrier, kBarrier, ""), "cp.async that is still under way");
  complains(gemm_text(kBarrier, kBarrier, "cp.async.wait_group 2;"), "still under way");
}

// Lane l holds the columns or rows that PTX ISA says.
TEST(PtxMatrices, transposed_tiles) {
  Memory memory;
  Buffer<std::uint32_t> const out(memory, "out", std::vector<std::uint32_t>(32), false);
  run(kernel_text(
          1,
          "mov.u32 %r2, tile; mov.u32 %r3, %tid.x; shl.b32 %r4, %r3, 2; add.u32 %r4, %r4, %r2;\n"
          "shl.b32 %r5, %r3, 1; add.u32 %r6, %r5, 1; shl.b32 %r6, %r6, 16; or.b32 %r5, %r5, %r6;\n"
          "st.shared.u32 [%r4], %r5; bar.warp.sync -1;\n"
          "and.b32 %r7, %r3, 7; shl.b32 %r7, %r7, 4; add.u32 %r7, %r7, %r2;\n"
          "ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r8}, [%r7];\n"
          "add.u64 %d1, %p0, %d31; st.global.u32 [%d1], %r8; ret;",
          ".shared .align 16 .b8 tile[128];\n"),
      memory, {.block = {32}}, {out.address()});
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    auto const column = lane / 4, row = lane % 4 * 2;
    EXPECT_EQ(out.values()[lane], ((row + 1) * 8 + column) << 16 | (row * 8 + column));
  }
}

// The product of a tf32 unit matrix and B is B, without the bits that tf32 lacks.
TEST(PtxMatrices, tf32_has_nineteen_bits) {
  Memory memory;
  Buffer<float> const out(memory, "out", std::vector<float>(128), false);
  run(kernel_text(
          1,
          "mov.u32 %r3, %tid.x; shr.u32 %r4, %r3, 2; and.b32 %r5, %r3, 3; add.u32 %r6, %r5, 4;\n"
          "setp.eq.u32 %q0, %r4, %r5; setp.eq.u32 %q1, %r4, %r6;\n"
          "selp.b32 %r10, 0x3f800000, 0, %q0; selp.b32 %r12, 0x3f800000, 0, %q1;\n"
          "mov.b32 %r11, 0; mov.b32 %r13, 0; mov.b32 %r14, 0x40490fdb; mov.b32 %r15, 0x40490fdb;\n"
          "mov.f32 %f4, 0f3F800000;\n"
          "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0, %f1, %f2, %f3},\n"
          "  {%r10, %r11, %r12, %r13}, {%r14, %r15}, {%f4, %f4, %f4, %f4};\n"
          "mul.wide.u32 %d0, %r3, 16; add.u64 %d0, %d0, %p0;\n"
          "st.global.v4.f32 [%d0], {%f0, %f1, %f2, %f3}; ret;"),
      memory, {.block = {32}}, {out.address()});
  auto const pi = std::bit_cast<float>(0x40490fdbu & ~0x1fffu);
  for (std::size_t i = 0; i < 128; ++i) EXPECT_EQ(out.values()[i], i % 4 < 2 ? pi + 1 : 1.0f);
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_matrices_test
