#include "base/check.hpp"

#include <gtest/gtest.h>

#include "tests/support/refused_with.hpp"

namespace spillway::check_test {
namespace {

TEST(Check, says_where_and_why_in_every_build) {
  EXPECT_EQ(test::mistake([] { check(true, "h.0/fc", "has no place in memory"); }), "");
  EXPECT_EQ(test::mistake([] { check(false, "h.0/fc", "has no place in memory"); }),
            "h.0/fc: has no place in memory");
}

}  // namespace
}  // namespace spillway::check_test
