// What an engine tells of its runs while others go on.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <semaphore>
#include <vector>

#include "tests/support/engine_fakes.hpp"
#include "tests/support/hand_made_run.hpp"

namespace spillway::engine_trace_test {
namespace {

using namespace test;

constexpr auto kLong = std::chrono::minutes(30);  // reached by what hangs only

struct Told {
  std::int64_t step = 0;
  double step_s = 0;
  std::vector<ItemTime> times;
};

// Neither lane waits for the other.
class EngineTrace : public ::testing::Test {
 protected:
  EngineTrace() {
    m_made.buffer(Tier::device, 64);
    m_made.buffer(Tier::host, 64);
    m_made.segment("last");
    m_compute = m_made.op(Lane::compute, {}, {0});
    m_host = m_made.op(Lane::host, {}, {1});
    m_made.complete();
    g_digests.assign(m_made.program.ops.size(), 0);
    m_tiers.reset(new Tiers(make_tiers(m_made.program, nullptr)));
  }
  void TearDown() override { g_disturb = nullptr; }

  EngineParts parts() {
    EngineParts parts{m_made.program, *m_tiers, KernelTable(fake_kernel), *m_comm, m_batches, {}};
    parts.trace = [this](RunTimes const& run) {
      m_told.push_back({run.step, run.step_s, {run.times.begin(), run.times.end()}});
    };
    return parts;
  }

  HandMadeRun m_made;
  int m_compute = -1, m_host = -1;
  std::vector<Told> m_told;
  std::unique_ptr<Comm> m_comm = make_single_rank_comm();
  NoBatches m_batches;
  std::unique_ptr<Tiers> m_tiers;  // cannot be moved
};

TEST_F(EngineTrace, tells_of_a_run_when_its_place_is_taken_by_another_and_of_all_at_the_end) {
  Engine engine(parts());
  for (std::int64_t step = 0; step < 5; ++step) {
    auto const result = engine.run_step(10 + step);
    ASSERT_EQ(std::ssize(m_told), std::max<std::int64_t>(0, step - 1));
    EXPECT_GT(result.step_s, 0);
  }
  engine.finish();
  ASSERT_EQ(m_told.size(), 5u);
  engine.finish();
  ASSERT_EQ(m_told.size(), 5u) << "each is told once";
  for (std::int64_t step = 0; step < 5; ++step) {
    auto const& told = m_told[static_cast<std::size_t>(step)];
    EXPECT_EQ(told.step, 10 + step);
    EXPECT_GT(told.step_s, 0);
    ASSERT_EQ(told.times.size(), 2u);
    for (auto const& [item, ready_s, start_s, end_s] : told.times) {
      EXPECT_LE(ready_s, start_s);
      EXPECT_LE(start_s, end_s);
      EXPECT_GT(end_s, 0);
    }
  }
}

// With a barrier between steps this would hang.
TEST_F(EngineTrace, lets_a_lane_work_on_while_the_next_step_runs) {
  std::binary_semaphore next_began(0);
  std::atomic<int> steps = 0;
  g_disturb = [&](Op const& op, std::uint64_t) {
    if (op.id == m_compute && ++steps % 2 == 0) next_began.release();
    if (op.id != m_host || steps % 2 == 0) return;
    EXPECT_TRUE(next_began.try_acquire_for(kLong));
  };
  Engine engine(parts());
  engine.run_step(0);
  engine.run_step(1);
  engine.finish();
  EXPECT_EQ(m_told.size(), 2u);
}

TEST_F(EngineTrace, tells_of_no_run_if_nobody_asked) {
  auto silent = parts();
  silent.trace = nullptr;
  Engine engine(silent);
  for (std::int64_t step = 0; step < 3; ++step) engine.run_step(step);
  engine.finish();
  EXPECT_TRUE(m_told.empty());
}

}  // namespace
}  // namespace spillway::engine_trace_test
