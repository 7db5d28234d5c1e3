// What a rank sends and to whom, and what one does that is alone.
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "comm/backoff.hpp"
#include "comm/comm.hpp"
#include "comm/on_all_ranks.hpp"
#include "comm/rank_wait.hpp"

namespace spillway::comm_alone_test {
namespace {

// Writes down its exchanges: "data >1:8 <4:16", a message to rank 1 and one from rank 4.
class Written final : public Comm {
 public:
  explicit Written(int rank, int size) : Comm({rank, size, 1, 2, 3}) {}

  [[noreturn]] void abort(int status) override { std::_Exit(status); }
  std::vector<std::string> taken() { return std::exchange(m_exchanges, {}); }
  void wait_for(int peer, double seconds) { count_wait(peer, seconds); }

 private:
  void exchange(Traffic traffic, std::span<Outgoing const> outgoing,
                std::span<Incoming const> incoming) override {
    std::string text = traffic == Traffic::data ? "data" : "control";
    for (auto const& [to, bytes] : outgoing)
      text += " >" + std::to_string(to) + ":" + std::to_string(bytes.size());
    for (auto const& [from, bytes] : incoming)
      text += " <" + std::to_string(from) + ":" + std::to_string(bytes.size());
    m_exchanges.push_back(text);
  }

  std::vector<std::string> m_exchanges;
};

using Exchanges = std::vector<std::string>;

TEST(Comm, has_a_place_among_all_ranks_and_another_one_on_its_node) {
  Written const comm(4, 5);
  EXPECT_EQ(comm.rank(), 4);
  EXPECT_EQ(comm.size(), 5);
  EXPECT_EQ(comm.local_rank(), 1);
  EXPECT_EQ(comm.local_size(), 2);
  EXPECT_EQ(comm.node_leader(), 3);
}

// As if another thread sent something while this one waits.
class Interrupted final : public Comm {
 public:
  Interrupted() : Comm({0, 2, 0, 2, 0}) {}
  [[noreturn]] void abort(int status) override { std::_Exit(status); }
  bool interrupted = true;

 private:
  void exchange(Traffic, std::span<Outgoing const>, std::span<Incoming const>) override {
    if (interrupted) agree(1);
  }
};

TEST(Comm, is_used_by_one_thread_at_a_time) {
  Interrupted comm;
  EXPECT_THROW(comm.agree(0), std::logic_error);
  std::array<std::byte, 8> bytes{};
  EXPECT_THROW(comm.swap(1, bytes, bytes), std::logic_error);
  comm.interrupted = false;
  comm.agree(0);
}

TEST(Comm, sends_what_a_step_moves_as_data_and_nothing_that_is_empty_or_its_own) {
  Written comm(1, 3);
  std::array<std::byte, 60> bytes{};
  std::array<ByteSlice, 3> const slices = {{{0, 7}, {7, 5}, {12, 0}}};
  comm.all_to_all(std::span(bytes).first(12), bytes, slices);
  EXPECT_EQ(comm.taken(), Exchanges{"data >0:7 <0:5 <2:5"});
  comm.all_gather(bytes, slices);
  EXPECT_EQ(comm.taken(), Exchanges{"data >0:5 >2:5 <0:7"});
  comm.swap(2, std::span(bytes).first(9), std::span(bytes).subspan(9, 9));
  EXPECT_EQ(comm.taken(), Exchanges{"data >2:9 <2:9"});
}

// 1, 2, 4, ... blocks a round, and the rest in the last one; a message ends where the ranks do.
TEST(Comm, gathers_in_few_rounds_of_control_messages_with_one_peer_each) {
  Written comm(3, 7);
  std::array<std::byte, 70> all{};
  comm.all_gather_bytes(std::span(all).subspan(30, 10), all);
  EXPECT_EQ(comm.taken(),
            (Exchanges{"control >2:10 <4:10", "control >1:20 <5:20", "control >6:30 <0:30"}));
  EXPECT_EQ(comm.agree(5), 5);
  EXPECT_EQ(comm.taken(),
            (Exchanges{"control >2:4 <4:4", "control >1:8 <5:8", "control >6:12 <0:12"}));
  Written last(6, 7);
  last.all_gather_bytes(std::span(all).subspan(60, 10), all);
  EXPECT_EQ(last.taken(), (Exchanges{"control >5:10 <0:10", "control >4:10 >4:10 <1:20",
                                     "control >2:10 >2:20 <3:30"}));
}

TEST(Comm, counts_waits_by_peer_until_they_are_forgotten) {
  Written comm(1, 3);
  auto const waits = [&] { return std::vector(comm.waited_s().begin(), comm.waited_s().end()); };
  EXPECT_EQ(waits(), (std::vector{0.0, 0.0, 0.0}));
  comm.wait_for(2, 0.5);
  comm.wait_for(0, 4);
  comm.wait_for(2, 0.25);
  EXPECT_EQ(waits(), (std::vector{4.0, 0.0, 0.75}));
  comm.forget_waits();
  EXPECT_EQ(waits(), (std::vector{0.0, 0.0, 0.0}));
}

TEST(WaitsSince, tells_what_a_rank_has_waited_since_it_was_asked_before) {
  Written comm(1, 3);
  comm.wait_for(0, 7);
  WaitsSince waits(comm);
  EXPECT_EQ(waits.take().most_for, -1) << "what was before it counts as none";
  comm.wait_for(2, 0.5);
  comm.wait_for(0, 0.25);
  auto const wait = waits.take();
  EXPECT_EQ(wait.waited_s, 0.75);
  EXPECT_EQ(wait.most_for, 2);
  EXPECT_EQ(wait.for_it_s, 0.5);
  EXPECT_EQ(waits.take().waited_s, 0);
  comm.wait_for(2, 4);
  comm.forget_waits();
  waits.skip();
  comm.wait_for(0, 2);
  EXPECT_EQ(waits.take().waited_s, 2);
}

TEST(MutualWaits, are_of_whom_each_rank_waited_for_longest) {
  std::array<MutualWait, 3> all{};
  add_wait(all, 0, {5, 2, 4});
  add_wait(all, 1, {3, 2, 3});
  add_wait(all, 2, {});
  add_wait(all, 0, {1, 1, 1});
  EXPECT_EQ(all[0].waited_s, 6);
  EXPECT_EQ(all[0].awaited_s, 0);
  EXPECT_EQ(all[1].awaited_s, 1);
  EXPECT_EQ(all[2].waited_s, 0);
  EXPECT_EQ(all[2].awaited_s, 7);
}

TEST(SingleRank, is_the_only_one_of_its_node_and_ends_with_the_status_that_is_asked) {
  auto const alone = make_single_rank_comm();
  EXPECT_EQ(alone->rank(), 0);
  EXPECT_EQ(alone->size(), 1);
  EXPECT_EQ(alone->local_rank(), 0);
  EXPECT_EQ(alone->local_size(), 1);
  EXPECT_EQ(alone->node_leader(), 0);
  EXPECT_EXIT(alone->abort(7), ::testing::ExitedWithCode(7), "");
}

TEST(OnAllRanks, a_shortage_of_memory_is_an_error_of_the_stage) {
  auto const alone = make_single_rank_comm();
  try {
    on_all_ranks(*alone, [] { throw std::bad_alloc(); });
    FAIL();
  } catch (AgreedError const& error) {
    EXPECT_EQ(error.status(), Status::cannot_fit);
    EXPECT_STREQ(error.what(),
                 "the system gives this process no more memory: free some, or raise the process's "
                 "limit (ulimit -v, or that of the batch job)");
  }
}

TEST(Backoff, has_not_waited_where_something_moves) {
  Backoff backoff;
  for (int i = 0; i < 40; ++i) backoff.pause();
  EXPECT_GT(backoff.waited_s(), 0);
  backoff.restart();
  EXPECT_EQ(backoff.waited_s(), 0);
}

}  // namespace
}  // namespace spillway::comm_alone_test
