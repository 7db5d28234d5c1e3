// Runs that come back with another number of ranks: the same training to summation order, and no
// sample lost or used twice.
#include "tests/parity/experiment.hpp"

namespace spillway::test::other_ranks_test {
namespace {

constexpr int kMostRanks = 4, kSequences = 6;

Keys const kKeys = {"precision=fp32", "batch.sequences=6", "batch.micro=1",
                    "debug.log_samples=true"};

void expect_to_follow(Run const& whole, Run const& resumed) {
  ASSERT_EQ(resumed.rows.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    auto const &expected = whole.rows.at(3 + i), &found = resumed.rows[i];
    for (auto const* key : {"step", "lr", "tokens"}) EXPECT_EQ(found.at(key), expected.at(key));
    auto const loss = expected.at("loss").get<double>();
    EXPECT_NEAR(found.at("loss").get<double>(), loss, 1e-5 * loss) << resumed.dir;
  }
}

using Runs = std::vector<Run>;  // in a test, Run is another one

TEST(OtherRanks, go_on_with_the_schedule_and_the_data_where_the_others_stopped) {
  std::vector<Experiment> experiments;
  Runs wholes;
  for (int ranks = 1; ranks <= kMostRanks; ++ranks) {
    experiments.emplace_back("other_ranks_" + std::to_string(ranks), ranks, kKeys);
    wholes.push_back(experiments.back().run("whole"));
    ASSERT_EQ(wholes.back().rows.size(), 6u);
    expect_samples_once(wholes.back(), 1, 6, kSequences);
  }
  for (std::size_t before = 0; before < kMostRanks; ++before) {
    for (std::size_t after = 0; after < kMostRanks; ++after) {
      if (before == after) continue;
      auto const name = "from_" + std::to_string(before + 1);
      auto const resumed = experiments[after].resume(name, wholes[before], 3);
      expect_samples_once(resumed, 4, 6, kSequences);
      expect_to_follow(wholes[before], resumed);
      EXPECT_NE(resumed.output.find("to summation order"), std::string::npos) << resumed.output;
    }
  }
}

}  // namespace
}  // namespace spillway::test::other_ranks_test
