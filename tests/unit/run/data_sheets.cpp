#include <gtest/gtest.h>

#include <set>
#include <string>

#include "run/data_sheet.hpp"

namespace spillway::data_sheets_test {
namespace {

TEST(DataSheets, are_found_by_the_whole_name_of_a_device_alone) {
  auto const* const h100 = data_sheet_of("NVIDIA H100 80GB HBM3");
  ASSERT_NE(h100, nullptr);
  EXPECT_EQ(h100->bf16_gflops, 989'500);
  for (auto const* name : {"", "NVIDIA H100", "NVIDIA H100 80GB HBM3 MIG 1g.10gb", "nvidia l4"})
    EXPECT_EQ(data_sheet_of(name), nullptr) << name;
}

TEST(DataSheets, name_each_device_once) {
  std::set<std::string_view> names;
  for (auto const& sheet : data_sheets())
    EXPECT_TRUE(names.insert(sheet.name).second) << sheet.name;
}

// Tera for giga, a figure with sparsity in place of one without, or columns that are mixed up.
TEST(DataSheets, have_figures_that_go_together) {
  for (auto const& [name, bf16_gflops, fp32_gflops, memory_gbps] : data_sheets()) {
    EXPECT_GE(bf16_gflops, 50e3) << name;
    EXPECT_LE(bf16_gflops, 3000e3) << name;
    EXPECT_GE(memory_gbps, 200) << name;
    EXPECT_LE(memory_gbps, 10e3) << name;
    if (fp32_gflops == 0) continue;
    EXPECT_GE(bf16_gflops / fp32_gflops, 1.9) << name;
    EXPECT_LE(bf16_gflops / fp32_gflops, 17) << name;
  }
}

}  // namespace
}  // namespace spillway::data_sheets_test
