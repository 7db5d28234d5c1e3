// How often planted mistakes are caught.
#pragma once

#include <gtest/gtest.h>

#include <string>

namespace spillway::test {

// What became of the mistake that one seed plants. It is idle where it has no place, or where it
// changes nothing.
enum class Planted { idle, caught, missed };

// Plants by one seed after the other, trial(seed), until `enough` mistakes have acted, and expects
// that 99 % of those are caught.
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
