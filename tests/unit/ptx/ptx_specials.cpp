// Tests the special registers.
#include "tests/unit/ptx/results.hpp"

namespace spillway::test::ptx::ptx_specials_test {
namespace {

using Expected = unsigned (*)(unsigned thread, unsigned lane);

struct Special {
  char const* name;
  Expected expected;
};

constexpr LaunchSettings kSettings{.grid = {1}, .block = {5, 4, 3}, .dynamic_shared_bytes = 200};

TEST(PtxSpecials, of_threads_and_lanes) {
  constexpr Special specials[] = {
      {"%tid.x", [](unsigned i, unsigned) { return i % 5; }},
      {"%tid.y", [](unsigned i, unsigned) { return i / 5 % 4; }},
      {"%tid.z", [](unsigned i, unsigned) { return i / 20; }},
      {"%ntid.x", [](unsigned, unsigned) { return 5u; }},
      {"%ntid.y", [](unsigned, unsigned) { return 4u; }},
      {"%ntid.z", [](unsigned, unsigned) { return 3u; }},
      {"%laneid", [](unsigned, unsigned lane) { return lane; }},
      {"%warpid", [](unsigned i, unsigned) { return i / 32; }},
      {"%nwarpid", [](unsigned, unsigned) { return 2u; }},
      {"WARP_SZ", [](unsigned, unsigned) { return 32u; }},
      {"%lanemask_eq", [](unsigned, unsigned lane) { return 1u << lane; }},
      {"%lanemask_lt", [](unsigned, unsigned lane) { return ~(~0u << lane); }},
      {"%lanemask_le", [](unsigned, unsigned lane) { return ~0u >> (31 - lane); }},
      {"%lanemask_gt", [](unsigned, unsigned lane) { return ~(~0u >> (31 - lane)); }},
      {"%lanemask_ge", [](unsigned, unsigned lane) { return ~0u << lane; }},
      {"%dynamic_smem_size", [](unsigned, unsigned) { return 200u; }},
      {"%total_smem_size", [](unsigned, unsigned) { return 256u; }},
      {"%aggr_smem_size", [](unsigned, unsigned) { return 1280u; }}};
  for (auto const& [name, expected] : specials) {
    auto const found =
        results(fmt::format("mov.u32 %r10, {}; mov.u32 %r4, %tid.y; mov.u32 %r5, %tid.z;\n"
                            "mad.lo.u32 %r5, %r5, 4, %r4; mad.lo.u32 %r5, %r5, 5, %r3;\n"
                            "mul.wide.u32 %d1, %r5, 4; add.u64 %d1, %p0, %d1;",
                            name),
                kSettings);
    for (unsigned i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], expected(i, i % 32)) << name;
  }
}

TEST(PtxSpecials, of_blocks) {
  for (auto const& [name, expected] :
       std::vector<Special>{{"%ctaid.x", [](unsigned i, unsigned) { return i % 3; }},
                            {"%ctaid.y", [](unsigned i, unsigned) { return i / 3 % 2; }},
                            {"%ctaid.z", [](unsigned i, unsigned) { return i / 6; }},
                            {"%nctaid.x", [](unsigned, unsigned) { return 3u; }},
                            {"%nctaid.y", [](unsigned, unsigned) { return 2u; }},
                            {"%nctaid.z", [](unsigned, unsigned) { return 2u; }}}) {
    auto const found =
        results(fmt::format("mov.u32 %r10, {}; mov.u32 %r4, %ctaid.y; mov.u32 %r5, %ctaid.z;\n"
                            "mad.lo.u32 %r5, %r5, 2, %r4; mad.lo.u32 %r5, %r5, 3, %r29;\n"
                            "mul.wide.u32 %d1, %r5, 4; add.u64 %d1, %p0, %d1;",
                            name),
                {.grid = {3, 2, 2}, .block = {1}});
    for (unsigned i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], expected(i, 0)) << name;
  }
}

// Clocks tell how much has run, and never go back.
TEST(PtxSpecials, clocks_go_on) {
  for (auto const* const clock : {"%clock64", "%globaltimer"}) {
    auto const found = results(fmt::format("mov.u64 %d2, {};\n"
                                           "mov.u32 %r4, 0; L: add.u32 %r4, %r4, 1;\n"
                                           "setp.lt.u32 %q0, %r4, 2000; @%q0 bra L;\n"
                                           "mov.u64 %d3, {}; setp.gt.u64 %q1, %d3, %d2;\n"
                                           "selp.u32 %r10, 1, 0, %q1;",
                                           clock, clock),
                               {.block = {1}});
    EXPECT_EQ(found[0], 1u) << clock;
  }
}

}  // namespace
}  // namespace spillway::test::ptx::ptx_specials_test
