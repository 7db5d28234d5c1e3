// Runs a body, and compares the number that each thread leaves with what is expected.
#pragma once

#include "tests/unit/ptx/ptx_case.hpp"

namespace spillway::test::ptx {

// Runs a body that leaves its result in %r10, and returns that of each thread.
inline std::vector<std::uint32_t> results(std::string const& body, LaunchSettings const& settings,
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

}  // namespace spillway::test::ptx
