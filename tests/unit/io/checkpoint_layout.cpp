// Who writes what of a checkpoint.
#include "io/h5/checkpoint_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "io/h5/h5_file.hpp"

namespace spillway::checkpoint_layout_test {
namespace {

std::vector<TensorInfo> const kTensors = {{"model", "wte", {5000, 77}},
                                          {"model", "bias", {77}},
                                          {"model", "w", {300, 300}},
                                          {"optimizer/m", "w", {300, 300}},
                                          {"optimizer/v", "bias", {1}}};

TEST(CheckpointLayout, spreads_all_values_evenly_and_once) {
  for (int const ranks : {1, 2, 3, 4, 7, 64}) {
    auto const layout = spread_evenly(kTensors, ranks);
    std::vector<std::int64_t> shares(static_cast<std::size_t>(ranks)), next(kTensors.size());
    std::set<std::pair<std::size_t, int>> seen;
    for (auto const& [tensor, rank, first, elements] : layout.extents) {
      EXPECT_EQ(first, next[tensor]);
      EXPECT_GT(elements, 0);
      EXPECT_TRUE(seen.emplace(tensor, rank).second);
      next[tensor] += elements;
      shares[static_cast<std::size_t>(rank)] += elements;
    }
    for (std::size_t i = 0; i < kTensors.size(); ++i)
      EXPECT_EQ(next[i], element_count(kTensors[i].shape));
    auto const [least, most] = std::ranges::minmax(shares);
    EXPECT_LE(most - least, 2 * 1024) << ranks;
    EXPECT_LT(layout.extents.size(), kTensors.size() + static_cast<std::size_t>(ranks));
  }
}

TEST(CheckpointLayout, leaves_ranks_without_work_where_there_is_too_little) {
  auto const layout = spread_evenly({{"model", "w", {3, 500}}}, 1'000'000);
  EXPECT_EQ(layout.extents, (std::vector<ExtentSpec>{{0, 0, 0, 1024}, {0, 1, 1024, 476}}));
}

}  // namespace
}  // namespace spillway::checkpoint_layout_test
