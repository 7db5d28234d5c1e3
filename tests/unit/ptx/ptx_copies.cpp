// Tests how much cp.async copies, when the bytes have arrived, and what is wrong with it.
#include "tests/unit/ptx/ptx_case.hpp"

namespace spillway::test::ptx::ptx_copies_test {
namespace {

// Each of 32 threads copies 16 bytes from its place of a buffer to its place of a tile, and then
// reads its last word.
std::string text_of(std::string const& copy, std::string const& wait = "cp.async.wait_all;",
                    std::string const& end = "") {
  return kernel_text(2,
                     "mov.u32 %r2, tile; mov.u32 %r3, %tid.x; shl.b32 %r4, %r3, 4;\n"
                     "add.u32 %r5, %r4, %r2; cvt.u64.u32 %d0, %r4; add.u64 %d1, %p0, %d0;\n"
                     "mov.u32 %r6, 12; setp.lt.u32 %q0, %r3, 16; mov.u64 %d2, 0;\n"
                     "createpolicy.fractional.L2::evict_first.b64 %d3;\n" +
                         copy + "\ncp.async.commit_group;\n" + wait +
                         "\nld.shared.u32 %r10, [%r5+12]; add.u64 %d4, %p1, %d31;\n" + end +
                         "st.global.u32 [%d4], %r10; ret;",
                     ".shared .align 16 .b8 tile[512];\n");
}

struct Found {
  std::string complaint;
  std::vector<std::uint32_t> words;
};

Found found_by(std::string const& text, std::size_t words = 128) {
  Memory memory;
  std::vector<std::uint32_t> values(words);
  for (std::uint32_t i = 0; i < words; ++i) values[i] = 100 + i;
  Buffer<std::uint32_t> const from(memory, "from", values);
  Buffer<std::uint32_t> const to(memory, "to", std::vector<std::uint32_t>(32), false);
  try {
    run(text, memory, {.block = {32}}, {from.address(), to.address()});
  } catch (Complaint const& complaint) {
    return {complaint.what(), {}};
  }
  return {"", to.values()};
}

template <class F>
void expect_words(std::string const& copy, F const& expected, std::size_t words = 128) {
  auto const found = found_by(text_of(copy), words);
  EXPECT_EQ(found.complaint, "") << copy;
  for (std::size_t i = 0; i < found.words.size(); ++i)
    ASSERT_EQ(found.words[i], expected(i)) << copy << " " << i;
}

std::size_t last_of(std::size_t i) {
  return 100 + 4 * i + 3;
}

TEST(PtxCopies, take_what_they_are_told) {
  expect_words("cp.async.cg.shared.global [%r5], [%d1], 16;", last_of);
  expect_words("cp.async.ca.shared::cta.global.L2::128B [%r5], [%d1], 16, 16;", last_of);
  expect_words("cp.async.cg.shared.global.L2::cache_hint.L2::256B [%r5], [%d1], 16, %d3;", last_of);
  expect_words("cp.async.cg.shared.global.L2::cache_hint [%r5], [%d1], 16, 16, %d3;", last_of);
  expect_words(
      "cp.async.ca.shared.global [%r5], [%d1], 8; cp.async.ca.shared.global [%r5+8], [%d1], 4;\n"
      "cp.async.ca.shared.global [%r5+12], [%d1+12], 4;",
      last_of);
}

TEST(PtxCopies, fill_up_with_zeros) {
  expect_words("cp.async.cg.shared.global [%r5], [%d1], 16, %r6;", [](auto) { return 0u; });
  expect_words("selp.b32 %r7, 16, 0, %q0; cp.async.cg.shared.global [%r5], [%d1], 16, %r7;",
               [](auto i) { return i < 16 ? last_of(i) : 0u; });
  expect_words("cp.async.cg.shared.global [%r5], [%d1], 16, %q0;",
               [](auto i) { return i < 16 ? 0u : last_of(i); });
  expect_words("cp.async.cg.shared.global [%r5], [%d1], 16, !%q0;",
               [](auto i) { return i < 16 ? last_of(i) : 0u; });
  expect_words(
      "selp.b32 %r7, 16, 0, %q0; cp.async.cg.shared.global [%r5], [%d1], 16, %r7;",
      [](auto i) { return i < 16 ? last_of(i) : 0u; }, 64);
  // Bytes that are not taken need not exist: the buffer ends within the last 16 bytes.
  expect_words(
      "cp.async.cg.shared.global [%r5], [%d1], 16, %r6;", [](auto) { return 0u; }, 127);
}

TEST(PtxCopies, faults_are_named) {
  auto const expect = [](std::string const& text, std::string const& expected,
                         std::size_t words = 128) {
    auto const found = found_by(text, words).complaint;
    EXPECT_NE(found.find(expected), found.npos) << text << ": " << found;
  };
  auto const whole = std::string("cp.async.cg.shared.global [%r5], [%d1], 16;");
  expect(text_of(whole), "which no memory holds", 127);
  expect(text_of(whole, ""), "reads bytes of a cp.async that is still under way");
  expect(text_of(whole, "cp.async.wait_group 1;"), "still under way");
  expect(text_of(whole, "st.shared.u32 [%r5], %r3; cp.async.wait_all;"),
         "writes bytes of a cp.async that is still under way");
  expect(text_of(whole + whole), "writes bytes of a cp.async");
  expect(text_of("cp.async.cg.shared.global [%r5], [%d1], 8;"), "another number of bytes");
  expect(text_of("cp.async.ca.shared.global [%r5], [%d1], 2;"), "another number of bytes");
  expect(text_of("cp.async.cg.shared.global [%r5], [%d1+4], 16;"), "is not aligned", 256);
  expect(text_of("cp.async.cg.shared.global [%r5+8], [%d1], 16;"), "is not aligned");
  expect(text_of("cp.async.cg.shared.global [%r5], [%d1], 16, 17;"), "more bytes than it writes");
  expect(text_of("cp.async.cg.shared.global [%r5], [%d1], 16, %r20;"), "was never written");
  expect(text_of("cp.async.cg.shared.global [%r5], [%d1], 16, %q5;"), "was never written");
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_copies_test
