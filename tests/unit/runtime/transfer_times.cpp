// What is told of transfers: when they had their turn, began and ended, and in which step they
// failed. Storage and ops hold each other up until what is told wrong would show.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <numeric>
#include <thread>

#include "io/ring/scripted_queue.hpp"
#include "io/spill/spill_file.hpp"
#include "tests/support/engine_fakes.hpp"
#include "tests/support/hand_made_run.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::test::transfer_times_test {
namespace {

using Ending = std::optional<TransferEnding>;
using Time = SteadyClock::time_point;

constexpr std::int64_t kBytes = 64;
constexpr double kRounded_s = 1e-9;  // more than rounding does to a difference of times

Ending all_of(TransferRequest const& request) {
  return TransferEnding(std::ssize(request.memory));
}
double seconds(Time from, Time to) {
  return std::chrono::duration<double>(to - from).count();
}
void wait_until_set(std::atomic<bool> const& flag) {
  flag.wait(false);
}
void set(std::atomic<bool>& flag) {
  flag = true;
  flag.notify_all();
}

class TransferTimes : public ::testing::Test {
 protected:
  void TearDown() override { g_disturb = nullptr; }

  // Storage answers as `script` says, and has no spare places.
  void start(ScriptedQueue::Script script, int transfers = 64, MakeWatch make_watch = nullptr) {
    made.complete();
    auto const& program = made.program;
    g_digests.assign(program.ops.size(), 0);
    spill.emplace(::testing::TempDir(), program.peak_bytes[2],
                  SpillSettings{.transfers = transfers, .patience_s = 1800, .spare_bytes = 0},
                  MadeQueue{std::make_unique<ScriptedQueue>(transfers, 1, std::move(script)), ""});
    tiers.reset(new Tiers(make_tiers(program, &*spill)));
    engine.emplace(EngineParts{
        program, *tiers, KernelTable(fake_kernel), *comm, batches, {}, nullptr, 1, make_watch});
  }

  HandMadeRun made;
  std::unique_ptr<Comm> comm = make_single_rank_comm();
  NoBatches batches;
  std::optional<SpillFile> spill;
  std::unique_ptr<Tiers> tiers;  // cannot be moved
  std::optional<Engine> engine;
};

std::atomic<bool> g_looked = false;

// Sees that the thread of transfers has looked at the first of its lanes in a run that has begun:
// it then looks at the next one.
class Looks final : public OrderWatch {
 public:
  void publishes(void const*, std::uint64_t) override {}
  void has_seen(void const*, std::uint64_t) override {
    if (t_moves) m_first_goes_on |= m_now == m_first;
  }
  void acts_for(void const* whom) override {
    t_moves = true;
    if (m_first == nullptr) m_first = whom;
    if (whom != m_first && m_first_goes_on) set(g_looked);
    m_now = whom;
  }
  void prepares(std::uint64_t) override {}
  void relies_on(Lane, std::uint64_t) override {}
  void begins(Execution const&) override {}
  void has_begun(Execution const&) override {}
  void ends(Execution const&) override {}

 private:
  static inline thread_local bool t_moves = false;
  void const *m_first = nullptr, *m_now = nullptr;  // of that thread
  bool m_first_goes_on = false;
};

// A copy to the host and one to storage wait for an op, and another op waits for both.
TEST_F(TransferTimes, are_those_of_the_first_look_the_begin_and_the_end) {
  constexpr std::int64_t size = 1 << 20;
  made.segment("last");
  auto const a = made.buffer(Tier::device, size), here = made.buffer(Tier::host, size);
  auto const away = made.buffer(Tier::nvme, size);
  auto const makes = made.op(Lane::compute, {}, {a});
  made.copy(Lane::d2h, a, here);
  made.copy(Lane::nvme_write, a, away);
  made.op(Lane::compute, {}, {a});
  g_looked = false;
  g_disturb = [&](Op const& op, std::uint64_t) {
    if (op.id == makes) wait_until_set(g_looked);
  };
  Time asked, answered;
  int asks = 0;
  start(
      [&](TransferRequest const& request) -> Ending {
        answered = SteadyClock::now();
        if (asks++ == 0) asked = answered;
        return asks > 5 && answered > asked ? all_of(request) : Ending();
      },
      64,
      [](Program const&, Tiers const&) -> std::unique_ptr<OrderWatch> {
        return std::make_unique<Looks>();
      });
  auto const [use, stall_s, work_s] = engine->run_step(0).lanes;
  engine->finish();
  auto const times = engine->last_step_times();
  ASSERT_EQ(times.size(), 4u);
  auto const &made_a = times[0], &copy = times[1], &store = times[2], &again = times[3];
  EXPECT_LE(copy.ready_s, made_a.end_s) << "it had its turn while it waited";
  EXPECT_GE(copy.start_s, made_a.end_s);
  EXPECT_GE(store.start_s, made_a.end_s);
  EXPECT_GE(again.start_s, copy.end_s);
  EXPECT_GE(again.start_s, store.end_s);
  EXPECT_GE(again.ready_s, made_a.end_s);
  EXPECT_GE(store.end_s - store.start_s + kRounded_s, seconds(asked, answered));
  auto const of = [&](Lane lane) { return use[index(lane)]; };
  EXPECT_DOUBLE_EQ(of(Lane::d2h).stall_s, copy.start_s - copy.ready_s);
  EXPECT_GT(of(Lane::d2h).busy_s, 0);
  EXPECT_LE(of(Lane::d2h).busy_s, copy.end_s - copy.start_s);
  EXPECT_DOUBLE_EQ(of(Lane::nvme_write).stall_s, store.start_s - store.ready_s);
  EXPECT_GE(of(Lane::nvme_write).busy_s + kRounded_s, seconds(asked, answered));
  EXPECT_LE(of(Lane::nvme_write).busy_s, store.end_s - store.start_s + kRounded_s);
  EXPECT_DOUBLE_EQ(of(Lane::compute).stall_s,
                   made_a.start_s - made_a.ready_s + (again.start_s - again.ready_s));
  EXPECT_DOUBLE_EQ(of(Lane::compute).busy_s,
                   made_a.end_s - made_a.start_s + (again.end_s - again.start_s));
  EXPECT_DOUBLE_EQ(std::accumulate(work_s.begin(), work_s.end(), 0.0), of(Lane::compute).busy_s);
  EXPECT_LE(stall_s[index(Lane::d2h)] + stall_s[index(Lane::nvme_write)],
            of(Lane::compute).stall_s + kRounded_s);
}

// The thread has gone on to the next run when the last transfer of this one ends.
TEST_F(TransferTimes, of_one_that_ends_late_are_those_of_its_run) {
  made.segment("last");
  auto const a = made.buffer(Tier::device, kBytes), away = made.buffer(Tier::nvme, kBytes);
  made.op(Lane::compute, {}, {a});
  made.copy(Lane::nvme_write, a, away);
  Time before, computed, asked, answered;
  int asks = 0;
  g_disturb = [&](Op const&, std::uint64_t) { computed = SteadyClock::now(); };
  start([&](TransferRequest const& request) -> Ending {
    answered = SteadyClock::now();
    if (asks++ == 0) asked = answered;
    // Until then an end that is told too early could be taken for the right one.
    bool const shows = answered - computed > asked - before + std::chrono::microseconds(1);
    return asks > 5 && shows ? all_of(request) : Ending();
  });
  for (int step = 0; step < 3; ++step) {
    asks = 0;
    before = SteadyClock::now();
    engine->run_step(step);
    engine->finish();
    auto const end_s = engine->last_step_times()[1].end_s;
    EXPECT_GE(end_s + kRounded_s, seconds(computed, answered)) << step;
  }
}

TEST_F(TransferTimes, of_a_failure_after_the_step_are_those_of_its_run) {
  made.segment("last");
  auto const a = made.buffer(Tier::device, kBytes), away = made.buffer(Tier::nvme, kBytes);
  made.op(Lane::compute, {}, {a});
  made.copy(Lane::nvme_write, a, away);
  std::atomic<bool> returned = false, fails = false;
  int asks = 0;
  start([&](TransferRequest const& request) -> Ending {
    if (!returned || ++asks < 5) return {};
    return fails ? TransferEnding(-EIO) : all_of(request);
  });
  for (bool const failing : {false, true, false, true, true}) {
    returned = false;
    fails = failing;
    EXPECT_EQ(engine->run_step(0).word, CommitWord::go);
    asks = 0;
    returned = true;
    engine->finish();
    EXPECT_EQ(engine->storage_failed(), failing);
  }
}

// A Program without a commit has nobody else who would say so.
TEST_F(TransferTimes, of_a_failure_within_a_step_without_a_commit_throw) {
  made.segment("last");
  auto const a = made.buffer(Tier::device, kBytes), away = made.buffer(Tier::nvme, kBytes);
  made.op(Lane::compute, {}, {a});
  made.copy(Lane::nvme_write, a, away);
  made.op(Lane::compute, {}, {a});
  start([](TransferRequest const&) { return Ending(TransferEnding(-EIO)); });
  auto const said = refused_with([&] { engine->run_step(0); }, Status::storage);
  EXPECT_EQ(said, spill->first_failure());
  EXPECT_NE(said, "");
}

// A lane begins no more than it can keep in mind until they end, though storage would take more.
TEST_F(TransferTimes, are_kept_of_as_many_as_may_be_under_way) {
  constexpr std::size_t most = 64;
  made.segment("last");
  auto const a = made.buffer(Tier::device, kBytes);
  made.op(Lane::compute, {}, {a});
  std::vector<BufferId> away;
  for (std::size_t i = 0; i < most + 2; ++i) {
    away.push_back(made.buffer(Tier::nvme, kBytes));
    made.at_buffer(away.back()).spanning = true;  // so that each has bytes of its own
    made.copy(Lane::nvme_write, a, away.back());
  }
  int asked = 0;
  bool first_ended = false, begins_too_many = false;
  start(
      [&](TransferRequest const& request) -> Ending {
        auto const is = [&](std::size_t i) {
          return request.offset_bytes == made.at_buffer(away[i]).offset;
        };
        if (is(0) && ++asked == 100) first_ended = true;
        begins_too_many |= is(most) && !first_ended;
        return first_ended ? all_of(request) : Ending();
      },
      100);
  engine->run_step(0);
  engine->finish();
  EXPECT_TRUE(first_ended);
  EXPECT_FALSE(begins_too_many);
  EXPECT_EQ(spill->counters().written_bytes, std::ssize(away) * kBytes);
}

// Storage may still write from memory that would be given back.
TEST_F(TransferTimes, of_an_engine_that_fails_come_to_their_ends) {
  made.segment("last");
  auto const a = made.buffer(Tier::device, kBytes), b = made.buffer(Tier::device, kBytes);
  auto const away = made.buffer(Tier::nvme, kBytes);
  made.at_buffer(a).persistent = true;  // so that `b` lies elsewhere
  made.op(Lane::compute, {}, {a});
  made.copy(Lane::nvme_write, a, away);
  auto const throws = made.op(Lane::compute, {}, {b});
  std::atomic<bool> begun = false, thrown = false;
  bool ended = false;
  int asks = 0;
  g_disturb = [&](Op const& op, std::uint64_t) {
    if (op.id != throws) return;
    wait_until_set(begun);
    throw std::runtime_error("as planned");
  };
  start([&](TransferRequest const& request) -> Ending {
    set(begun);
    if (!thrown || ++asks < 5) return {};
    ended = true;
    return all_of(request);
  });
  EXPECT_THROW(engine->run_step(0), std::runtime_error);
  thrown = true;
  engine.reset();
  EXPECT_TRUE(ended);
  EXPECT_EQ(spill->under_way(), 0);
}

// Of two lanes that fail, the one that failed first is told, however often one asks.
TEST_F(TransferTimes, of_a_later_failure_are_not_told) {
  made.segment("last");
  auto const a = made.buffer(Tier::device, kBytes), b = made.buffer(Tier::host, kBytes);
  auto const first = made.op(Lane::compute, {}, {a});
  made.op(Lane::host, {}, {b});
  std::atomic<bool> host_runs = false, told = false, host_throws = false;
  g_disturb = [&](Op const& op, std::uint64_t) {
    if (op.id == first) {
      wait_until_set(host_runs);
      throw std::runtime_error("first");
    }
    set(host_runs);
    wait_until_set(told);
    set(host_throws);
    throw std::runtime_error("second");
  };
  start(all_of);
  auto const said = [&]() -> std::string {
    try {
      engine->finish();
    } catch (std::runtime_error const& error) {
      return error.what();
    }
    return "nothing";
  };
  EXPECT_THROW(engine->run_step(0), std::runtime_error);
  EXPECT_EQ(said(), "first");
  set(told);
  wait_until_set(host_throws);
  for (int i = 0; i < 200; ++i) {
    ASSERT_EQ(said(), "first");
    std::this_thread::yield();
  }
}

// Compute may not begin a step before the one before the last has ended on all lanes.
TEST_F(TransferTimes, of_compute_that_waits_for_a_lane_behind_are_told) {
  made.segment("last");
  auto const a = made.buffer(Tier::device, kBytes), b = made.buffer(Tier::host, kBytes);
  made.op(Lane::compute, {}, {a});
  auto const lags = made.op(Lane::host, {}, {b});
  double waited_s = 0;
  // A machine may give compute no time until the other lane is there, but not forever.
  for (int tries = 0; waited_s == 0 && tries < 1000; ++tries) {
    std::atomic<bool> third = false;
    g_disturb = [&](Op const& op, std::uint64_t) {
      if (op.id != lags || third) return;
      wait_until_set(third);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    };
    start(all_of);
    engine->run_step(0);
    engine->run_step(1);
    set(third);
    auto const [use, stall_s, work_s] = engine->run_step(2).lanes;
    waited_s = stall_s[index(Lane::host)];
    for (auto const other : kLanesInOrder) {
      if (other == Lane::host) continue;
      EXPECT_EQ(stall_s[index(other)], 0) << name(other);
    }
    EXPECT_GE(use[index(Lane::compute)].stall_s + kRounded_s, waited_s);
    engine->finish();
    engine.reset();
  }
  EXPECT_GT(waited_s, 0);
}

}  // namespace
}  // namespace spillway::test::transfer_times_test
