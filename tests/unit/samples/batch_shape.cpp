// How the samples of a step part into the places of micro-batches and ranks.
#include "samples/batch_shape.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "base/math.hpp"

namespace spillway::batch_shape_test {
namespace {

using Random = std::mt19937;

std::int64_t below(Random& random, std::int64_t end) {
  return static_cast<std::int64_t>(random()) % end;
}

BatchConfig draw_batch(Random& random, std::int64_t ranks) {
  BatchConfig batch{1 + below(random, 60), 1 + below(random, 5)};
  while (div_ceil(batch.sequences, *batch.micro) < ranks) ++batch.sequences;
  for (std::int64_t rank = 0; rank < ranks; ++rank) batch.share.push_back(1 + below(random, 9));
  return batch;
}

// The places of a step in the order of their samples, by rank and micro-batch.
std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> places_of(BatchConfig const& batch,
                                                                        std::int64_t ranks) {
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> places;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    auto const shape = batch_shape(batch, *batch.micro, rank, ranks);
    EXPECT_GT(shape.micro_batches(), 0);
    for (std::int64_t number = 0; number < shape.micro_batches(); ++number) {
      for (std::int64_t row = 0; row < shape.micro; ++row) {
        auto const sample = shape.sample(number, row);
        bool const is_new = !sample || places.try_emplace(*sample, number, rank).second;
        EXPECT_TRUE(is_new) << sample.value_or(-1);
      }
    }
  }
  return places;
}

TEST(BatchShare, gives_every_sample_one_place_whatever_the_shares) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Random random(seed);
    auto const ranks = 1 + below(random, 6);
    auto const batch = draw_batch(random, ranks);
    auto const places = places_of(batch, ranks);
    ASSERT_EQ(std::ssize(places), batch.sequences) << seed;
    EXPECT_EQ(places.rbegin()->first, batch.sequences - 1);
    std::pair<std::int64_t, std::int64_t> last;
    for (auto const& [sample, place] : places) {
      EXPECT_LE(last, place) << "seed " << seed << ": rank by rank in micro-batch by micro-batch";
      last = place;
    }
  }
}

TEST(BatchShare, gives_ranks_micro_batches_by_largest_remainder_and_each_at_least_one) {
  using Counts = std::vector<std::int64_t>;
  auto const counts = [](std::int64_t all, Counts const& share) {
    return batch_shape({all, 1, share}, 1, 0, std::ssize(share)).counts;
  };
  EXPECT_EQ(counts(3, {2, 1}), (Counts{2, 1}));
  EXPECT_EQ(counts(10, {9, 1}), (Counts{9, 1}));
  EXPECT_EQ(counts(7, {1, 1, 1}), (Counts{3, 2, 2}));
  EXPECT_EQ(counts(7, {2, 4, 1}), (Counts{2, 4, 1}));
  EXPECT_EQ(counts(8, {2, 4, 1}), (Counts{2, 5, 1}));  // 2.29, 4.57, 1.14
  EXPECT_EQ(counts(3, {100, 1, 1}), (Counts{1, 1, 1}));
  EXPECT_EQ(counts(5, {1, 100, 1}), (Counts{1, 3, 1}));
  EXPECT_EQ(counts(1'000'000'000, {1'000'000, 1'000'000}), (Counts{500'000'000, 500'000'000}));
}

TEST(BatchShare, of_one_for_all_is_the_equal_one_where_micro_batches_go_into_ranks) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Random random(seed);
    auto const ranks = 1 + below(random, 5), micro = 1 + below(random, 4);
    BatchConfig batch{micro * ranks * (1 + below(random, 4)) - below(random, micro), micro};
    auto const equal = places_of(batch, ranks);
    batch.share.assign(static_cast<std::size_t>(ranks), 3);
    EXPECT_EQ(places_of(batch, ranks), equal) << seed;
    EXPECT_TRUE(batch_shape(batch, micro, 0, ranks).fewer().empty());
  }
}

TEST(BatchShare, says_what_ranks_run) {
  auto const shape = batch_shape({9, 2, {3, 1, 1}}, 2, 1, 3);
  EXPECT_EQ(shape.micro_batches(), 1);
  EXPECT_EQ(shape.most_micro_batches(), 3);
  EXPECT_EQ(shape.fewer(), std::vector<std::int64_t>{1});
  EXPECT_EQ(shape.places(), 10);
  EXPECT_DOUBLE_EQ(shape.filled_of_most(), 0.5);
  EXPECT_EQ(describe_share(shape),
            "Micro-batches of a step, by rank (batch.share): 3, 1, 1; the plan stays\n");
  EXPECT_EQ(describe_share({9, 2, 0, 3}), "");
  EXPECT_EQ(describe_empty_rows(shape),
            "1 of 10 rows (10 %) of a step is empty, as 9 sequences do not part into micro-batches "
            "of 2 on 3 ranks; batch.micro=1 leaves none\n");
  BatchConfig of_many{100, 1, std::vector<std::int64_t>(17, 1)};
  EXPECT_EQ(describe_share(batch_shape(of_many, 1, 0, 17)),
            "Micro-batches of a step, by rank (batch.share): 5 to 6; the plan stays\n");
}

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
