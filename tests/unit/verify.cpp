// `verify` against an oracle that runs Programs in every order that lanes and waits allow.
#include <gtest/gtest.h>

#include "plan/passes.hpp"
#include "support/interleave.hpp"
#include "support/random_program.hpp"

namespace spillway::test {
namespace {

constexpr int kSteps = 4;  // more than any wait reaches back

// The oracle's word: held runs decide, random ones look for what they might have missed.
std::optional<Failure> find_failure(Program const& program, Random& random) {
  Interleaver interleaver(program, kSteps);
  for (int i = 0; i < 20; ++i) {
    if (auto const failure = interleaver.run_random(random)) return failure;
  }
  return interleaver.run_held();
}

TEST(Verify, AcceptsOnlyProgramsThatNoInterleavingBreaks) {
  Random random(1);
  for (int i = 0; i < 400; ++i) {
    Program const program = random_program(random);
    auto const violation = verify(program);
    ASSERT_FALSE(violation) << "program " << i << ": " << violation->why;
    auto const failure = find_failure(program, random);
    ASSERT_FALSE(failure) << "program " << i << ": " << failure->why;
  }
}

using Damage = bool (*)(Program&, Random&);

// Damages many Programs; verify and the oracle must agree on each, and where verify names a pair,
// delaying one of the two must bring the failure out. Returns how many were unsound.
int check_damaged(Damage damage, unsigned seed, int cases) {
  Random random(seed);
  int unsound = 0;
  for (int i = 0; i < cases; ++i) {
    Program program = random_program(random);
    if (!damage(program, random)) continue;
    auto const violation = verify(program);
    auto const failure = find_failure(program, random);
    EXPECT_EQ(violation.has_value(), failure.has_value())
        << "case " << i << ": verify says " << (violation ? violation->why : "sound")
        << "; the oracle " << (failure ? failure->why : "finds nothing");
    if (::testing::Test::HasFailure()) return unsound;
    if (!violation) continue;
    ++unsound;
    EXPECT_GE(violation->later, 0);
    if (violation->earlier < 0) continue;
    Interleaver interleaver(program, kSteps);
    EXPECT_TRUE(interleaver.run_held(violation->earlier) || interleaver.run_held(violation->later))
        << violation->why;
  }
  return unsound;
}

TEST(Verify, FindsARemovedWaitExactlyWhereItMatters) {
  EXPECT_GT(check_damaged(remove_wait, 2, 500), 300);
}

TEST(Verify, FindsOverlappingLifetimesExactlyWhereTheyMatter) {
  EXPECT_GT(check_damaged(move_buffer, 3, 800), 200);
}

TEST(Verify, FindsAnItemMovedBeforeWhatItNeedsExactlyWhereItMatters) {
  EXPECT_GT(check_damaged(move_item_forward, 4, 1000), 200);
}

TEST(Verify, FindsALaneThatChangedExactlyWhereItMatters) {
  EXPECT_GT(check_damaged(change_lane, 5, 500), 100);
}

}  // namespace
}  // namespace spillway::test
