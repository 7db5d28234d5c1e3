// How the samples of a step part into the places of micro-batches and ranks.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>

#include "samples/batches.hpp"

namespace spillway::batch_shape_test {
namespace {

TEST(BatchShape, gives_every_sample_of_a_step_one_place) {
  for (std::int64_t ranks : {1, 2, 3}) {
    for (std::int64_t micro : {1, 2, 4}) {
      for (std::int64_t sequences : {1, 5, 8, 13}) {
        std::map<std::int64_t, int> seen;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
          BatchShape const shape{sequences, micro, rank, ranks};
          for (std::int64_t batch = 0; batch < shape.micro_batches(); ++batch) {
            for (std::int64_t row = 0; row < micro; ++row) {
              if (auto const sample = shape.sample(batch, row)) ++seen[*sample];
            }
          }
        }
        ASSERT_EQ(std::ssize(seen), sequences);
        EXPECT_EQ(seen.begin()->first, 0);
        EXPECT_EQ(seen.rbegin()->first, sequences - 1);
        for (auto const& [sample, count] : seen) EXPECT_EQ(count, 1) << sample;
      }
    }
  }
}

// No smaller micro-batch leaves fewer.
TEST(BatchShape, tells_of_empty_rows_without_advice_where_there_is_none) {
  EXPECT_EQ(describe_empty_rows({5, 1, 0, 2}),
            "1 of 6 rows (17 %) of a step is empty, as 5 sequences do not part into micro-batches "
            "of 1 on 2 ranks\n");
  EXPECT_EQ(describe_empty_rows({3, 2, 0, 2}),
            "1 of 4 rows (25 %) of a step is empty, as 3 sequences do not part into micro-batches "
            "of 2 on 2 ranks\n");
  EXPECT_EQ(describe_empty_rows({1, 1, 0, 1000}),
            "999 of 1000 rows (100 %) of a step are empty, as 1 sequence does not part into "
            "micro-batches of 1 on 1000 ranks\n");
  EXPECT_EQ(describe_empty_rows({1, 1, 0, 1}), "");
}

}  // namespace
}  // namespace spillway::batch_shape_test
