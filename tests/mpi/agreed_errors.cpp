// Errors that all ranks end with alike, and what is said of ranks that were waited for.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "comm/on_all_ranks.hpp"
#include "comm/require_same.hpp"
#include "comm/waited_for.hpp"
#include "tests/support/on_ranks.hpp"

namespace spillway {
namespace {

Comm* g_comm = nullptr;

struct Ending {
  Status status = Status::done;
  std::string text;
};

template <class Action>
Ending ending_of(Action const& action) {
  try {
    action();
  } catch (AgreedError const& error) {
    return {error.status(), error.what()};
  }
  return {};
}

TEST(OnAllRanks, the_lowest_rank_that_fails_decides_and_speaks) {
  auto const me = g_comm->rank(), last = g_comm->size() - 1;
  for (int first = 0; first <= last; ++first) {
    auto const ending = ending_of([&] {
      on_all_ranks(*g_comm, [&] {
        if (me == first) throw Error(Status::damaged, "first of " + std::to_string(me));
        if (me > first) throw Error(Status::storage, "rank " + std::to_string(me));
      });
    });
    EXPECT_EQ(ending.status, Status::damaged);
    EXPECT_EQ(ending.text, me == first ? "first of " + std::to_string(me) : "");
  }
}

TEST(OnAllRanks, a_stage_that_nobody_fails_runs_once_on_each) {
  int runs = 0;
  EXPECT_EQ(ending_of([&] { on_all_ranks(*g_comm, [&] { ++runs; }); }).status, Status::done);
  EXPECT_EQ(runs, 1);
}

// Each waits for nobody then, or all would wait for those that are gone.
TEST(OnAllRanks, a_lost_peer_is_not_agreed_on) {
  auto const lose = [] { throw Error(Status::peer_lost, "gone"); };
  try {
    on_all_ranks(*g_comm, lose);
    FAIL();
  } catch (AgreedError const&) {
    FAIL();
  } catch (Error const& error) {
    EXPECT_STREQ(error.what(), "gone");
  }
}

// Of every length beside that of rank 0's text.
TEST(RequireSame, tells_the_lowest_rank_that_differs_what_rank0_has) {
  auto const me = g_comm->rank(), last = g_comm->size() - 1;
  for (std::string const first : {"", "a", "same"}) {
    for (std::string const other : {"", "b", "name", "much longer"}) {
      auto const mine = me == last || me > 1 ? other : first;
      auto const ending = ending_of([&] {
        require_same(*g_comm, mine,
                     [&](std::string const& theirs) { return mine + " is not " + theirs; });
      });
      auto const lowest = std::min(2, last);
      EXPECT_EQ(ending.status, first == other ? Status::done : Status::bad_input);
      bool const speaks = first != other && me == lowest;
      EXPECT_EQ(ending.text, speaks ? other + " is not " + first : "");
    }
  }
}

TEST(WaitedFor, names_those_of_which_nothing_was_heard) {
  std::vector<WaitedFor> peers = {
      {"rank 0", 5, true}, {"rank 1", 5.1, false}, {"rank 3", 4, false}, {"rank 4", 9, true}};
  EXPECT_EQ(describe_wait(10, peers),
            "no word from rank 1, rank 4 for 10 s (run.peer_timeout): stopped, stuck in a call, or "
            "gone");
  for (auto& peer : peers) peer.silent_s = 5;
  EXPECT_EQ(describe_wait(10.4, peers), "waited 10 s for rank 0, rank 4, which waits too");
}

TEST(WaitedFor, have_their_hosts_where_there_are_several) {
  EXPECT_EQ(rank_name(std::vector<std::string>{"one", "one", "two"}, 1), "rank 1 (one)");
  EXPECT_EQ(rank_name(std::vector<std::string>{"one", "one", "two"}, 2), "rank 2 (two)");
  EXPECT_EQ(rank_name(std::vector<std::string>{"one", "one", "one"}, 2), "rank 2");
}

}  // namespace
}  // namespace spillway

int main(int argc, char** argv) {
  return spillway::test::run_on_ranks(argc, argv, spillway::g_comm);
}
