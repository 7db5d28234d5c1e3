// Measures how many of the mistakes that tests plant on purpose are caught.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace spillway::test {

// Says what became of the mistake that a seed plants. The mistake is `idle` if there was no place
// for it or if it changes nothing.
enum class Planted { idle, caught, missed };

// Calls trial(seed) for the seeds from 0 on, until `enough` mistakes were not idle, and expects
// that at least 99 % of these are caught. Fails if 20 * `enough` seeds do not suffice.
template <class Trial>
void expect_caught(int enough, Trial const& trial) {
  int acting = 0, caught = 0;
  std::string missed;
  for (unsigned seed = 0; acting < enough; ++seed) {
    ASSERT_LT(seed, 20u * static_cast<unsigned>(enough)) << "too few places";
    Planted const outcome = trial(seed);
    if (outcome == Planted::idle) continue;
    ++acting;
    caught += outcome == Planted::caught;
    if (outcome == Planted::missed) missed += " " + std::to_string(seed);
  }
  testing::Test::RecordProperty("caught", caught);
  EXPECT_GE(100 * caught, 99 * acting) << caught << " of " << acting << ", missed: seeds" << missed;
}

}  // namespace spillway::test
