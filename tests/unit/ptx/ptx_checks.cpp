// Shows that every check notices a fault, which is planted in a small kernel that is sound without
// it.
#include "tests/unit/ptx/ptx_case.hpp"

namespace spillway::test::ptx::ptx_checks_test {
namespace {

constexpr char const* kShared = ".shared .align 16 .b8 tile[1024];\n";

struct Fault {
  char const* name;
  std::string sound, faulty;
  char const* complaint;
};

// Expects, under every seed, no Complaint for the sound kernel, and one for the faulty kernel that
// names line and thread.
void expect_faults(std::vector<Fault> const& faults, LaunchSettings settings, bool known = true) {
  for (auto const& fault : faults)
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      settings.seed = seed;
      EXPECT_EQ(complaint_of(kernel_text(1, fault.sound + "\nret;", kShared), settings, 256, known),
                "")
          << fault.name;
      auto const found =
          complaint_of(kernel_text(1, fault.faulty + "\nret;", kShared), settings, 256, known);
      EXPECT_NE(found.find(fault.complaint), found.npos) << fault.name << ": " << found;
      EXPECT_NE(found.find("kernel k, line "), found.npos) << found;
      EXPECT_NE(found.find("of block ("), found.npos) << found;
    }
}

// Every kernel here may begin with this. It puts the address of the thread's word in global memory
// into %d1, and that of its word in the tile into %r4.
std::string with_addresses(std::string const& body) {
  return "add.u64 %d1, %p0, %d31; mov.u32 %r2, tile; mov.u32 %r3, %tid.x;\n"
         "shl.b32 %r4, %r3, 2; add.u32 %r4, %r4, %r2;\n" +
         body;
}

TEST(PtxChecks, memory_has_bounds_and_alignment) {
  expect_faults(
      {{"beyond the end", with_addresses("st.global.u32 [%d1+512], %r3;"),
        with_addresses("st.global.u32 [%d1+772], %r3;"), "no memory holds: address"},
       {"before the beginning", with_addresses("ld.global.u32 %r5, [%p0];"),
        with_addresses("ld.global.u32 %r5, [%p0+-4];"), "which no memory holds"},
       {"misaligned", with_addresses("ld.global.u32 %r5, [%d1+4];"),
        with_addresses("ld.global.u32 %r5, [%d1+2];"), "is not aligned to 4 bytes"},
       {"misaligned vector", with_addresses("ld.global.v2.u32 {%r5, %r6}, [%p0+8];"),
        with_addresses("ld.global.v2.u32 {%r5, %r6}, [%p0+4];"), "is not aligned to 8 bytes"},
       {"shared end", with_addresses("st.shared.u32 [%r4+768], %r3;"),
        with_addresses("st.shared.u32 [%r4+772], %r3;"), "of shared memory"},
       {"null in shared memory", with_addresses("st.shared.u32 [%r4], %r3;"),
        with_addresses("mov.u32 %r4, 0; st.shared.u32 [%r4], %r3;"), "4 bytes at 0x0 of shared"},
       {"parameters", with_addresses("ld.param.u32 %r5, [k_0];"),
        with_addresses("ld.param.u32 %r5, [k_0+8];"), "of the parameters"}},
      {.block = {64}});
}

TEST(PtxChecks, what_was_never_written_is_not_used) {
  auto const load = with_addresses("ld.shared.u32 %r5, [%r4];\n");
  auto const set_first = with_addresses("st.shared.u32 [%r4], %r3; ld.shared.u32 %r5, [%r4];\n");
  expect_faults(
      {{"in a predicate", set_first + "setp.eq.u32 %q0, %r5, 0; @%q0 bra L; L:",
        load + "setp.eq.u32 %q0, %r5, 0; @%q0 bra L; L:",
        "the predicate of an instruction was never"},
       {"in an address", set_first + "mad.lo.u32 %r5, %r5, 4, %r2; ld.shared.u8 %r6, [%r5];",
        load + "mad.lo.u32 %r5, %r5, 4, %r2; ld.shared.u8 %r6, [%r5];",
        "the address was never written"},
       {"a register", with_addresses("mov.u32 %r7, 0; setp.eq.u32 %q0, %r7, 0; @%q0 ret;"),
        with_addresses("setp.eq.u32 %q0, %r7, 0; @%q0 ret;"),
        "the predicate of an instruction was"},
       {"through arithmetic and memory",
        set_first + "add.u32 %r6, %r5, 1; st.global.u32 [%d1], %r6;",
        load + "add.u32 %r6, %r5, 1; st.global.u32 [%d1], %r6;", "was never written, and stays"},
       {"an atomic operation's operand", set_first + "red.global.add.u32 [%p0], %r5;",
        load + "red.global.add.u32 [%p0], %r5;", "an operand of an atomic operation"}},
      {.block = {64}});
}

TEST(PtxChecks, copies_of_what_was_never_written_are_silent) {
  auto const text = kernel_text(1,
                                with_addresses("ld.shared.u32 %r5, [%r4]; mov.u32 %r6, %r5;\n"
                                               "st.shared.u32 [%r4], %r6;\n"
                                               "st.global.u32 [%d1], %r6;\n"
                                               "st.global.u32 [%d1], %r3; ret;"),
                                kShared);
  EXPECT_EQ(complaint_of(text, {.block = {64}}), "");
}

// %q5 and %r20 are never written, and no result depends on them.
TEST(PtxChecks, operands_that_decide_hide_unknown_ones) {
  auto const text = kernel_text(
      1,
      with_addresses("setp.eq.u32 %q0, %r3, %r3; not.pred %q1, %q0;\n"
                     "and.pred %q2, %q1, %q5; @%q2 trap; and.pred %q2, %q5, %q1; @%q2 trap;\n"
                     "or.pred %q2, %q0, %q5; @!%q2 trap; or.pred %q2, %q5, %q0; @!%q2 trap;\n"
                     "selp.b32 %r5, %r3, %r20, %q0; selp.b32 %r6, %r20, %r3, %q1;\n"
                     "st.global.u32 [%d1], %r5; st.global.u32 [%d1+512], %r6; ret;"),
      kShared);
  EXPECT_EQ(complaint_of(text, {.block = {64}}), "");
}

TEST(PtxChecks, what_a_launch_may_not_touch) {
  auto const text = kernel_text(1, "st.global.u32 [%p0], %r31; ret;");
  Memory memory;
  std::uint32_t word = 0;
  auto* const host = reinterpret_cast<std::byte*>(&word);
  memory.add({.address = 4096, .bytes = 4, .host = host, .may_write = false, .name = "weights"});
  EXPECT_THROW(run(text, memory, {}, {4096}), Complaint);
  memory.remove(4096);
  memory.add({.address = 4096, .bytes = 4, .host = host, .name = "weights"});
  run(text, memory, {}, {4096});
}

TEST(PtxChecks, barriers_are_for_all_threads) {
  auto const condition = with_addresses("setp.lt.u32 %q0, %r3, 32; setp.lt.u32 %q1, %r3, 16;\n");
  expect_faults(
      {{"a warp leaves it out", condition + "bar.sync 0;", condition + "@%q0 bar.sync 0;",
        "waits at a barrier, and warp 1 has ended"},
       {"half a warp leaves it out", condition + "bar.sync 0;", condition + "@%q1 bar.sync 0;",
        "waits at a barrier, and lane"},
       {"another barrier", condition + "bar.sync 1;",
        condition + "@!%q0 bra L; bar.sync 1; bra M; L: bar.sync 2; M:", "waits at barrier"},
       {"two within a warp", condition + "bar.sync 0;",
        condition + "@%q1 bra L; bar.sync 0; bra M; L: bar.sync 0; M:", "do not come"}},
      {.block = {64}});
}

TEST(PtxChecks, lanes_that_wait_for_each_other) {
  auto const condition = with_addresses("setp.lt.u32 %q0, %r3, 16;\n");
  expect_faults(
      {{"one does not come", condition + "bar.warp.sync -1;",
        condition + "@%q0 bra L; bar.sync 0; bra M; L: bar.warp.sync -1; M:", "do not come"},
       {"not in its own mask", condition + "bar.warp.sync 0xffffffff;",
        condition + "bar.warp.sync 0xffff;", "is not in its own member mask"},
       {"masks differ", condition + "selp.b32 %r5, 0xffff, 0xffff0000, %q0; bar.warp.sync %r5;",
        condition + "selp.b32 %r5, 0xffff, 0xffffffff, %q0; bar.warp.sync %r5;", "has member mask"},
       {"shuffles from outside", condition + "shfl.sync.bfly.b32 %r5, %r3, 16, 0x1f, -1;",
        condition + "@%q0 shfl.sync.bfly.b32 %r5, %r3, 16, 0x1f, 0xffff;", "takes no part"}},
      {.block = {32}});
}

TEST(PtxChecks, ends_are_found) {
  auto const endless = kernel_text(1, "L: bra L;");
  EXPECT_NE(complaint_of(endless, {.most_warp_instructions = 10000}).find("for ever"),
            std::string::npos);
  auto const falls = kernel_text(1, "add.u32 %r0, %r31, 1;");
  EXPECT_NE(complaint_of(falls, {}).find("runs beyond the kernel's end"), std::string::npos);
  for (auto const* const body : {"trap;", "brkpt;"})
    EXPECT_NE(complaint_of(kernel_text(1, body), {}).find("traps"), std::string::npos);
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_checks_test
