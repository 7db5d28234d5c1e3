// Tests moves, special registers, and memory of all spaces and widths.
#include "tests/unit/ptx/op_case.hpp"

namespace spillway::test::ptx::ptx_moves_test {
namespace {

using U32 = std::uint32_t;

TEST(PtxMoves, selections_and_copies) {
  auto const picks = operands_for("444p");
  auto const found = run_op("selp.b32", "444p", picks);
  for (std::size_t i = 0; i < picks.size(); ++i)
    ASSERT_EQ(found[i], picks[i][2] != 0 ? picks[i][0] : picks[i][1]);
  expect_op<std::uint64_t, std::uint64_t>("mov.b64", [](std::uint64_t a) { return a; });
  expect_op<std::uint16_t, std::uint16_t>("mov.u16", [](std::uint16_t a) { return a; });
}

// Runs a body that leaves words in %r10 and %r11, on one block of 32 threads.
std::vector<U32> words(std::string const& body, std::string const& variables = "",
                       LaunchSettings const& settings = {.block = {32}}) {
  Memory memory;
  Buffer<U32> const out(
      memory, "out", std::vector<U32>(2 * settings.grid.count() * settings.block.count()), false);
  run(kernel_text(1,
                  "shl.b64 %d30, %d31, 1; add.u64 %d30, %p0, %d30;\n" + body +
                      "\nst.global.v2.u32 [%d30], {%r10, %r11}; ret;",
                  variables),
      memory, settings, {out.address()});
  return out.values();
}

TEST(PtxMoves, parts_of_registers) {
  auto const found = words(
      "mov.b64 {%r0, %r1}, 0x1122334455667788; mov.b32 {%h0, %h1}, %r0;\n"
      "mov.b32 %r10, {%h1, %h0}; mov.b64 %d0, {%r1, %r0}; cvt.u32.u64 %r11, %d0;");
  EXPECT_EQ(found[0], 0x77885566u);
  EXPECT_EQ(found[1], 0x11223344u);
}

TEST(PtxMoves, special_registers) {
  LaunchSettings const settings{.grid = {2, 3}, .block = {40}};
  Memory memory;
  Buffer<U32> const out(memory, "out", std::vector<U32>(240));
  run(kernel_text(1,
                  "mov.u32 %r0, %ctaid.y; mov.u32 %r1, %nctaid.x; mov.u32 %r2, %ctaid.x;\n"
                  "mad.lo.u32 %r0, %r0, %r1, %r2; mov.u32 %r3, %tid.x;\n"
                  "mad.lo.u32 %r0, %r0, %ntid.x, %r3; mul.wide.u32 %d0, %r0, 4;\n"
                  "add.u64 %d0, %d0, %p0; mov.u32 %r4, %laneid; mov.u32 %r5, %warpid;\n"
                  "mad.lo.u32 %r4, %r5, 100, %r4; st.global.u32 [%d0], %r4; ret;"),
      memory, settings, {out.address()});
  for (unsigned i = 0; i < 240; ++i) EXPECT_EQ(out.values()[i], i % 40 / 32 * 100 + i % 40 % 32);
}

TEST(PtxMoves, memory_extends_and_cuts) {
  auto const shared = std::string(".shared .align 16 .b8 tile[512];\n");
  auto const own = std::string(
      "mov.u32 %r2, tile; mov.u32 %r3, %tid.x; shl.b32 %r4, %r3, 4; add.u32 %r4, %r4, %r2;\n");
  auto found = words(own +
                         "mov.u32 %r0, 0xfff880; st.shared.u8 [%r4], %r0;\n"
                         "ld.shared.s8 %r10, [%r4]; ld.shared.u8 %r11, [%r4];",
                     shared);
  EXPECT_EQ(found[0], 0xffffff80u);
  EXPECT_EQ(found[1], 0x80u);
  found =
      words(own + "st.shared.v4.u32 [%r4], {1, 2, 3, %r3}; ld.shared.v2.u32 {%r10, %r11}, [%r4+8];",
            shared);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(found[2 * i + 1], i);
  EXPECT_EQ(found[0], 3u);
}

// The test chooses a region's address, and so its alignment.
TEST(PtxMoves, vectors_of_32_bytes_with_hints_for_caches) {
  Memory memory;
  std::vector<U32> words(512);
  for (U32 i = 0; i < 256; ++i) words[i] = i;
  memory.add({.address = 1 << 20,
              .bytes = 2048,
              .host = reinterpret_cast<std::byte*>(words.data()),
              .name = "words"});
  run(kernel_text(1,
                  "createpolicy.fractional.L2::evict_last.b64 %d3, 0f3F800000;\n"
                  "shl.b64 %d0, %d31, 3; add.u64 %d1, %p0, %d0; prefetch.global.L2 [%d1]; "
                  "prefetchu.L1 [%d1];\n"
                  "ld.global.nc.L1::no_allocate.L2::cache_hint.L2::256B.v8.b32\n"
                  "  {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%d1], %d3;\n"
                  "st.global.cs.v8.b32 [%d1+1024], {%r7, %r6, %r5, %r4, %r3, %r2, %r1, %r0};\n"
                  "ld.global.cg.v4.b64 {%d4, %d5, %d6, %d7}, [%d1+1024];\n"
                  "st.global.L2::cache_hint.v4.b64 [%d1+1024], {%d7, %d6, %d5, %d4}, %d3; ret;"),
      memory, {.block = {32}}, {1 << 20});
  for (U32 i = 0; i < 256; ++i) EXPECT_EQ(words[256 + i], i / 8 * 8 + (i % 8 ^ 1));
}

TEST(PtxMoves, generic_addresses_reach_all_spaces) {
  auto const variables = std::string(
      ".shared .align 16 .b8 tile[128];\n"
      ".const .align 4 .u32 table[2] = {11, 0x16};\n"
      ".global .align 8 .u64 pointer = generic(table)+4;\n");
  auto const found = words(
      "mov.u32 %r3, %tid.x; mov.u64 %d0, tile; cvta.shared.u64 %d1, %d0; add.u64 %d1, %d1, %d31;\n"
      "st.u32 [%d1], %r3; ld.u32 %r10, [%d1];\n"
      ".local .align 8 .b8 depot[16]; mov.u64 %d2, depot; cvta.local.u64 %d3, %d2;\n"
      "st.local.u32 [%d2+4], %r3; ld.u32 %r4, [%d3+4]; add.u32 %r10, %r10, %r4;\n"
      "ld.const.u32 %r11, [table+4]; ld.global.u64 %d4, [pointer]; ld.u32 %r5, [%d4];\n"
      "add.u32 %r11, %r11, %r5;",
      variables);
  for (unsigned i = 0; i < 32; ++i) {
    EXPECT_EQ(found[2 * i], 2 * i);
    EXPECT_EQ(found[2 * i + 1], 44u);
  }
}

TEST(PtxMoves, parameters_have_addresses_and_layout) {
  auto const text =
      std::string(kHead) +
      ".visible .entry k(.param .u64 to, .param .align 4 .b8 by_value[12], .param .u16 h)\n"
      "{ .reg .b32 %r<4>; .reg .b64 %d<6>;\n"
      "ld.param.u64 %d0, [to]; mov.b64 %d1, by_value; cvta.param.u64 %d2, %d1;\n"
      "ld.u32 %r0, [%d2+8]; ld.param.v2.u32 {%r1, %r2}, [by_value]; ld.param.u16 %r3, [h];\n"
      "st.global.u32 [%d0], %r0; st.global.u32 [%d0+4], %r2; st.global.u32 [%d0+8], %r3; ret; }";
  auto const module = parse(text);
  auto const& kernel = module.kernels.at("k");
  EXPECT_EQ(kernel.parameter_bytes, 22u);
  EXPECT_EQ(kernel.parameters[2].offset, 20u);
  Memory memory;
  Buffer<U32> const out(memory, "out", std::vector<U32>(3));
  std::vector<std::byte> bytes(22);
  U32 const values[] = {5, 6, 7};
  auto const address = out.address();
  std::uint16_t const half = 9;
  std::memcpy(bytes.data(), &address, 8);
  std::memcpy(bytes.data() + 8, values, 12);
  std::memcpy(bytes.data() + 20, &half, 2);
  launch(decode(module, "k", nullptr), memory, {.parameters = bytes});
  EXPECT_EQ(out.values(), (std::vector<U32>{7, 6, 9}));
}

TEST(PtxMoves, dynamic_shared_memory_is_the_launchs) {
  auto const variables =
      std::string(".extern .shared .align 256 .b8 all[];\n.shared .align 4 .b8 tile[20];\n");
  auto const found = words(
      "mov.u32 %r2, all; st.shared.u32 [%r2+124], 5; mov.u32 %r11, %r2;\n"
      "mov.u32 %r3, tile; st.shared.u32 [%r3+16], 5;\n"
      "mov.u32 %r10, %dynamic_smem_size;",
      variables, {.block = {1}, .dynamic_shared_bytes = 128});
  EXPECT_EQ(found[0], 128u);
  EXPECT_EQ(found[1], kReservedSharedBytes + 256);
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_moves_test
