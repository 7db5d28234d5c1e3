// Lanes go on without each other, and never further than their waits let them.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <semaphore>
#include <thread>
#include <utility>

#include "io/ring/scripted_queue.hpp"
#include "io/spill/spill_file.hpp"
#include "plan/proof/verify.hpp"
#include "tests/support/engine_fakes.hpp"
#include "tests/support/hand_made_run.hpp"

namespace spillway::engine_lanes_test {
namespace {

using namespace test;
using Fate = std::optional<std::int64_t>;

constexpr std::int64_t kBytes = 64;
constexpr auto kLong = std::chrono::minutes(30);  // reached by what hangs only

class EngineLanes : public ::testing::Test {
 protected:
  void TearDown() override { g_disturb = nullptr; }

  // The storage answers as `script` says.
  void run(HandMadeRun& made, int steps, ScriptedQueue::Script script) {
    made.complete();
    ASSERT_FALSE(verify(made.program)) << verify(made.program)->why;
    auto const& program = made.program;
    g_digests.assign(program.ops.size(), 0);
    SpillFile spill(::testing::TempDir(), program.peak_bytes[2], {.patience_s = 1800},
                    MadeQueue{std::make_unique<ScriptedQueue>(8, 1, std::move(script)), ""});
    auto tiers = make_tiers(program, &spill);
    Engine engine({program, tiers, KernelTable(fake_kernel), *m_comm, m_batches, {}, nullptr});
    for (int step = 0; step < steps; ++step) engine.run_step(step);
    engine.finish();
    EXPECT_EQ(spill.first_failure(), "");
  }

  std::unique_ptr<Comm> m_comm = make_single_rank_comm();
  NoBatches m_batches;
};

Fate all_of(TransferRequest const& request) {
  return static_cast<std::int64_t>(request.memory.size());
}
bool writes(TransferRequest const& request) {
  return request.direction == Direction::write;
}

// The second of two spills ends first. What waits for the first must not take it for that one.
TEST_F(EngineLanes, a_lane_that_ends_out_of_order_publishes_in_order) {
  HandMadeRun made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, kBytes), b = made.buffer(Tier::device, kBytes);
  auto const away_a = made.buffer(Tier::nvme, kBytes), away_b = made.buffer(Tier::nvme, kBytes);
  made.op(Lane::compute, {}, {a, b});
  made.copy(Lane::nvme_write, a, away_a);
  made.copy(Lane::nvme_write, b, away_b);
  auto const again = made.op(Lane::compute, {}, {a});
  auto const back_a = made.buffer(Tier::device, kBytes), back_b = made.buffer(Tier::device, kBytes);
  made.copy(Lane::nvme_read, away_a, back_a);  // so that both spills have bytes of their own
  made.copy(Lane::nvme_read, away_b, back_b);
  made.op(Lane::compute, {back_a, back_b}, {});
  std::atomic<bool> first_done = false;
  bool second_done = false, seen_early = false;
  int asked = 0;
  g_disturb = [&](Op const& op, std::uint64_t) {
    seen_early = seen_early || (op.id == again && !first_done);
  };
  run(made, 1, [&](TransferRequest const& request) -> Fate {
    if (!writes(request)) return all_of(request);
    if (request.offset_bytes == made.at_buffer(away_b).offset) {
      second_done = true;
      return all_of(request);
    }
    if (!second_done || ++asked < 20) return {};  // time enough to go wrong
    first_done = true;
    return all_of(request);
  });
  EXPECT_TRUE(first_done);
  EXPECT_FALSE(seen_early);
}

TEST_F(EngineLanes, a_read_does_not_overtake_its_write) {
  HandMadeRun made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, kBytes), back = made.buffer(Tier::device, kBytes);
  auto const away = made.buffer(Tier::nvme, kBytes);
  made.op(Lane::compute, {}, {a});
  made.copy(Lane::nvme_write, a, away);
  made.copy(Lane::nvme_read, away, back);
  made.op(Lane::compute, {back}, {});
  int asked = 0, written = 0;
  run(made, 3, [&](TransferRequest const& request) -> Fate {
    if (!writes(request)) {
      EXPECT_EQ(written, 1) << "a read before its write has ended";
      written = 0;
    } else if (++asked % 3 != 0) {
      return {};
    } else {
      ++written;
    }
    return all_of(request);
  });
}

// A write that ends only after a read that begins after it: who runs transfers one after the other
// never comes to the read.
TEST_F(EngineLanes, reads_and_writes_are_under_way_together) {
  constexpr int kSteps = 3;
  HandMadeRun made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, kBytes), b = made.buffer(Tier::device, kBytes);
  auto const back = made.buffer(Tier::device, kBytes), last = made.buffer(Tier::device, kBytes);
  auto const away_a = made.buffer(Tier::nvme, kBytes), away_b = made.buffer(Tier::nvme, kBytes);
  made.op(Lane::compute, {}, {a, b});
  made.copy(Lane::nvme_write, a, away_a);
  made.copy(Lane::nvme_write, b, away_b);
  auto const between = made.op(Lane::compute, {}, {back});
  made.copy(Lane::nvme_read, away_a, back);
  made.copy(Lane::nvme_read, away_b, last);
  made.op(Lane::compute, {back, last}, {});
  std::counting_semaphore<kSteps> begun(0);
  g_disturb = [&](Op const& op, std::uint64_t) {
    if (op.id != between) return;
    EXPECT_TRUE(begun.try_acquire_for(kLong)) << "the write has not begun";
  };
  int reads = 0, held = 0;
  bool told = false;
  run(made, kSteps, [&](TransferRequest const& request) -> Fate {
    bool const of_b = request.offset_bytes == made.at_buffer(away_b).offset;
    if (!writes(request)) reads += of_b ? 0 : 1;
    if (!writes(request) || !of_b) return all_of(request);
    if (!std::exchange(told, true)) begun.release();
    if (reads == held) return {};
    ++held;
    told = false;
    return all_of(request);
  });
  EXPECT_EQ(held, kSteps);
}

// A step's host item ends only after the next step has computed.
TEST_F(EngineLanes, compute_goes_on_while_the_last_steps_host_items_run) {
  HandMadeRun made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, kBytes), b = made.buffer(Tier::host, kBytes);
  auto const computes = made.op(Lane::compute, {}, {a});
  auto const follows = made.op(Lane::host, {}, {b});
  constexpr int kSteps = 10;
  std::counting_semaphore<kSteps> computed(0);
  int overlaps = 0, host_runs = 0;
  g_disturb = [&](Op const& op, std::uint64_t) {
    if (op.id == computes) computed.release();
    if (op.id != follows) return;
    if (host_runs++ == 0 && computed.try_acquire_for(kLong)) ++overlaps;  // its own
    if (host_runs < kSteps && computed.try_acquire_for(kLong)) ++overlaps;
  };
  run(made, kSteps, all_of);
  EXPECT_EQ(overlaps, kSteps);
}

// Nothing but the engine holds compute back here.
TEST_F(EngineLanes, a_lane_is_at_most_one_step_behind) {
  HandMadeRun made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, kBytes), b = made.buffer(Tier::host, kBytes);
  auto const computes = made.op(Lane::compute, {}, {a});
  auto const lags = made.op(Lane::host, {}, {b});
  constexpr int kSteps = 20;
  std::atomic<int> host_done = 0, most_ahead = 0, compute_runs = 0;
  std::counting_semaphore<> computed{0};
  g_disturb = [&](Op const& op, std::uint64_t) {
    if (op.id == computes) {
      most_ahead = std::max<int>(most_ahead, compute_runs++ - host_done);
      computed.release();
    }
    if (op.id != lags) return;
    if (host_done == 0) computed.acquire();  // its own step's
    bool const is_last = host_done + 1 == kSteps;
    EXPECT_TRUE(is_last || computed.try_acquire_for(kLong)) << "the next step's";
    std::this_thread::sleep_for(std::chrono::milliseconds(3));  // for one that goes on too far
    ++host_done;
  };
  run(made, kSteps, all_of);
  EXPECT_EQ(most_ahead, 1);
}

// More copies than a lane may have under way, of which none ends before it must.
TEST_F(EngineLanes, full_storage_delays_and_loses_nothing) {
  constexpr int kCopies = 100;
  HandMadeRun made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, kBytes), b = made.buffer(Tier::host, kBytes);
  made.op(Lane::compute, {}, {a});
  for (int i = 0; i < kCopies; ++i) {
    auto const away = made.buffer(Tier::nvme, kBytes), back = made.buffer(Tier::device, kBytes);
    made.copy(Lane::nvme_write, a, away);
    made.copy(Lane::nvme_read, away, back);
    made.op(Lane::host, {back}, {b});
  }
  int asked = 0;
  run(made, 2, [&](TransferRequest const& request) -> Fate {
    if (++asked % 7 == 0) return all_of(request);
    return request.memory.size() > 1 && asked % 3 == 0 ? Fate(1 + asked % 2) : Fate();
  });
  EXPECT_NE(g_digests.back(), 0u);
}

}  // namespace
}  // namespace spillway::engine_lanes_test
