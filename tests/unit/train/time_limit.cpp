#include "train/time_limit.hpp"

#include <gtest/gtest.h>

namespace spillway::time_limit_test {
namespace {

// Two turns of 10 s and a checkpoint of 3 s are ahead, or two checkpoints.
TEST(TimeLimit, leaves_room_for_two_turns_and_the_checkpoints_behind_them) {
  EXPECT_FALSE(must_stop({77, 10, 3, false}, 100));
  EXPECT_TRUE(must_stop({77.1, 10, 3, false}, 100));
  EXPECT_FALSE(must_stop({74, 10, 3, true}, 100));
  EXPECT_TRUE(must_stop({74.1, 10, 3, true}, 100));
}

TEST(TimeLimit, that_has_passed_stops_a_run_that_knows_nothing_yet) {
  EXPECT_FALSE(must_stop({0, 0, 0, true}, 1));
  EXPECT_TRUE(must_stop({1.5, 0, 0, true}, 1));
}

}  // namespace
}  // namespace spillway::time_limit_test
