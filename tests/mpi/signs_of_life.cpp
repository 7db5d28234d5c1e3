// Which rank hears of which other one.
#include "comm/signs_of_life.hpp"

#include <gtest/gtest.h>

#include "comm/backoff.hpp"
#include "tests/support/on_ranks.hpp"

namespace spillway {
namespace {

Comm* g_comm = nullptr;

class Signs : public testing::Test {
 protected:
  Signs() { MPI_Comm_dup(MPI_COMM_WORLD, &m_own); }
  ~Signs() override { MPI_Comm_free(&m_own); }

  int me() const { return g_comm->rank(); }
  int last() const { return g_comm->size() - 1; }

  MPI_Comm m_own = MPI_COMM_NULL;
};

// Nothing is heard for so long only where something is lost.
constexpr double kLost_s = 20;

template <class Condition>
bool comes_true(Condition const& condition) {
  for (Backoff backoff; backoff.waited_s() < kLost_s; backoff.pause())
    if (condition()) return true;
  return false;
}

TEST_F(Signs, reach_every_peer) {
  SignsOfLife signs(m_own, 0);
  auto const begun = SteadyClock::now();
  g_comm->agree(0);
  signs.give(Sign::busy);
  for (int peer = 0; peer <= last(); ++peer) {
    if (peer == me()) continue;
    EXPECT_TRUE(comes_true([&] {
      signs.hear();
      auto const since_begun_s = seconds_since(begun);
      return signs.silent_s(peer) < since_begun_s;
    })) << peer;
  }
  signs.end(kLost_s);
}

// Who was heard last has been silent for the shortest time.
TEST_F(Signs, are_of_the_peer_that_gives_them) {
  SignsOfLife signs(m_own, 0);
  g_comm->agree(0);
  if (me() == last()) {
    signs.give(Sign::busy);
  } else {
    EXPECT_TRUE(comes_true([&] { return signs.hear(); }));
    EXPECT_FALSE(signs.is_asked());
    for (int peer = 0; peer < last(); ++peer) {
      auto const silent_s = signs.silent_s(last());
      EXPECT_LT(silent_s, signs.silent_s(peer)) << peer;
    }
    signs.note(0);
    auto const silent_s = signs.silent_s(0);
    EXPECT_LT(silent_s, signs.silent_s(last()));
  }
  g_comm->agree(0);
  signs.end(kLost_s);
}

// Those who wait do not make others wait longer; somebody who is busy does.
TEST_F(Signs, of_waiting_ask_and_are_no_busy_ones) {
  SignsOfLife signs(m_own, 0);
  g_comm->agree(0);
  if (me() == last()) signs.give(Sign::waiting);
  bool busy = false;
  if (me() != last()) {
    EXPECT_TRUE(comes_true([&] {
      busy = signs.hear() || busy;
      return signs.is_asked();
    }));
  }
  EXPECT_FALSE(busy);
  g_comm->agree(0);
  signs.end(kLost_s);
}

// The first one is left out; what comes in its place is the second.
TEST_F(Signs, are_at_most_one_in_their_time) {
  SignsOfLife signs(m_own, 1e9);
  g_comm->agree(0);
  if (me() == 0) {
    signs.give(Sign::waiting);
    signs.set_every(0);
    signs.give(Sign::busy);
  } else {
    EXPECT_TRUE(comes_true([&] { return signs.hear(); }));
    EXPECT_FALSE(signs.is_asked());
  }
  g_comm->agree(0);
  signs.end(kLost_s);
}

TEST_F(Signs, are_all_taken_before_the_end) {
  SignsOfLife signs(m_own, 0);
  for (int i = 0; i < 50 * me(); ++i) signs.give(i % 2 == 0 ? Sign::busy : Sign::waiting);
  signs.end(kLost_s);
  g_comm->agree(0);
  int left = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, m_own, &left, MPI_STATUS_IGNORE);
  EXPECT_EQ(left, 0);
}

}  // namespace
}  // namespace spillway

int main(int argc, char** argv) {
  return spillway::test::run_on_ranks(argc, argv, spillway::g_comm);
}
