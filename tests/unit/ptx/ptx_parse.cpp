// Tests what is read of a module, and what is refused by name and line.
#include "tests/unit/ptx/ptx_case.hpp"

namespace spillway::test::ptx::ptx_parse_test {
namespace {

TEST(PtxParse, a_module_as_plain_data) {
  auto const module = parse(std::string(kHead) + R"(// a comment
/* and
   another */
.global .align 4 .f32 numbers[2] = {0f3F800000, 0f40000000};
.visible .entry first(
  .param .u64 .ptr .global .align 16 first_param_0,
  .param .align 8 .b8 first_param_1[24]
)
.maxntid 128, 2, 1
.minnctapersm 1
{
  .reg .pred %p<2>;
  .reg .f32 %f<3>;
  .loc 1 2 3
  @!%p1 bra.uni $L__BB0_2;
  { .reg .f32 inner; mov.f32 inner, %f1; }
$L__BB0_2:
  ret;
}
)");
  EXPECT_EQ(module.version, "8.5");
  EXPECT_EQ(module.target, "sm_90");
  EXPECT_EQ(module.variables[0].bytes, 8u);
  EXPECT_EQ(module.variables[0].initial[7], std::byte{0x40});
  auto const& kernel = module.kernels.at("first");
  EXPECT_EQ(kernel.parameters[1].offset, 8u);
  EXPECT_EQ(kernel.parameter_bytes, 32u);
  EXPECT_EQ(kernel.most_threads, 256u);
  EXPECT_EQ(kernel.registers.size(), 6u);
  EXPECT_EQ(kernel.registers[5].name, "inner");
  auto const& branch = kernel.instructions[0];
  EXPECT_TRUE(branch.guard_is_negated);
  EXPECT_EQ(branch.opcode, (std::vector<std::string>{"bra", "uni"}));
  EXPECT_EQ(branch.target, 2);
  EXPECT_EQ(branch.line, 18);
  EXPECT_EQ(kernel.instructions[1].text, "mov.f32 inner, %f1");
}

struct Refusal {
  std::string body, expected;
};

TEST(PtxParse, what_is_not_offered_is_refused_by_name_and_line) {
  for (auto const& [body, expected] : std::vector<Refusal>{
           {"wgmma.fence.sync.aligned;", "line 10: opcode 'wgmma' is not offered"},
           {"tex.1d.v4.f32.f32 %f0, %f1;", "line 10: opcode 'tex' is not offered"},
           {"add.u128 %r0, %r1, %r2;", "'.u128' of 'add' is not offered"},
           {"add.rz.s32 %r0, %r1, %r2;", "'add.rz.s32' is not offered"},
           {"add.s32 %r0, %r1;", "2 operands are not offered"},
           {"add.s32 %d0, %r1, %r2;", "an operand has 8 bytes and should have 4"},
           {"ld.global.u64 %r0, [%d0];", "an operand has 4 bytes and needs 8"},
           {"bar.sync 0, 64, 1;", "3 operands are not offered"},
           {"ld.global.v2.u32 {%r0}, [%d0];", "1 registers stand where 2 are needed"},
           {"ld.shared.v8.f32 {%f0}, [%d0];", "'ld.shared.v8.f32' is not offered"},
           {"mov.u32 %r0, nothing;", "'nothing' is no variable"},
           {"mov.u32 %r0, %sreg;", "special register '%sreg' is not offered"},
           {"bra NOWHERE;", "no label is 'NOWHERE'"},
           {"call.uni f, ();", "'call' is not offered"},
           {"@%none ret;", "'%none' is no register"},
           {"add.s32 %r0, %r1, ?;", "'?' is no part of PTX"},
           {".branchtargets A;", "directive '.branchtargets' is not offered"},
           {"div.nearest.f32 %f0, %f1, %f2;", "'.nearest' of 'div' is not offered"}}) {
    auto const found = refusal_of(kernel_text(0, body));
    EXPECT_NE(found.find(expected), found.npos) << body << ": " << found;
    EXPECT_TRUE(found.starts_with("line 10: ")) << found;
  }
}

TEST(PtxParse, what_a_module_may_not_have) {
  for (auto const& [text, expected] :
       std::vector<Refusal>{{".func f() { ret; }", "functions ('.func') are not offered"},
                            {".tex .u64 t;", "directive '.tex' is not offered"},
                            {".global .align 3 .b8 x;", "3 is no alignment"},
                            {".global .u32 x = {1, 2};", "x has too many values"},
                            {"/* open", "a comment does not end"}}) {
    auto const found = refusal_of(kHead + text);
    EXPECT_NE(found.find(expected), found.npos) << text << ": " << found;
  }
}

TEST(PtxParse, a_launch_must_fit_its_kernel) {
  auto const text = kernel_text(0, "ret;");
  Memory memory;
  auto const refused = [&](LaunchSettings const& settings,
                           std::vector<std::uint64_t> const& parameters = {}) {
    try {
      run(text, memory, settings, parameters);
    } catch (std::invalid_argument const&) {
      return true;
    }
    return false;
  };
  EXPECT_FALSE(refused({.block = {1024}}));
  EXPECT_TRUE(refused({.block = {1025}}));
  EXPECT_TRUE(refused({.grid = {0}}));
  EXPECT_TRUE(refused({}, {7}));
  EXPECT_TRUE(refused({.dynamic_shared_bytes = 228 * 1024}));
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_parse_test
