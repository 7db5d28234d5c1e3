#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <semaphore>

#include "base/error.hpp"
#include "tests/support/hand_made_run.hpp"
#include "tests/unit/runtime/miniature.hpp"

namespace spillway::engine_commit_test {
namespace {

using namespace test;

class EngineCommit : public MiniatureRun {
 protected:
  // The reload of run 4 fails, and the spill of run 7.
  EngineCommit() : MiniatureRun(std::make_unique<FaultOnNth>(Fault::error, 4, 7)) {}
};

TEST_F(EngineCommit, go_reports_sums_and_lets_the_update_run) {
  Engine engine(parts(), {.poison = true});
  auto const result = engine.run_step(0);
  EXPECT_EQ(result.word, CommitWord::go);
  EXPECT_EQ(result.loss_sum, 0);
  EXPECT_EQ(result.weight_sum, 16);
  EXPECT_EQ(result.grad_norm, 2.0 / 16);
  EXPECT_EQ(result.learning_rate, 0.5);
  EXPECT_EQ(result.lanes.use[index(Lane::nvme_write)].bytes, 64);
  EXPECT_EQ(result.lanes.use[index(Lane::nvme_read)].bytes, 64);
  EXPECT_EQ(weight(engine), 0.5);
}

TEST_F(EngineCommit, a_storage_error_is_not_committed_and_the_step_runs_again) {
  Engine engine(parts());
  for (int step = 0; step < 3; ++step) EXPECT_EQ(engine.run_step(step).word, CommitWord::go);
  EXPECT_EQ(engine.run_step(3).word, CommitWord::storage_error);
  EXPECT_EQ(weight(engine), 1.5);
  auto const again = engine.run_step(3);
  EXPECT_EQ(again.word, CommitWord::go);
  EXPECT_EQ(again.loss_sum, 16 * 30);
  EXPECT_EQ(weight(engine), 2.0);
  EXPECT_EQ(engine.run_step(4).word, CommitWord::go);
  EXPECT_EQ(engine.run_step(5).word, CommitWord::storage_error);  // a spill this time
  EXPECT_EQ(engine.run_step(5).word, CommitWord::go);
}

TEST_F(EngineCommit, non_finite_stops_the_update) {
  Engine engine(parts());
  g_norm = INFINITY;
  EXPECT_EQ(engine.run_step(0).word, CommitWord::non_finite);
  EXPECT_EQ(weight(engine), 0);
  g_norm = 1;
  EXPECT_EQ(engine.run_step(0).word, CommitWord::go);
}

TEST_F(EngineCommit, stop_commits_the_step_first) {
  Engine engine(parts());
  g_stop = true;
  auto const result = engine.run_step(0);
  EXPECT_EQ(result.word, CommitWord::go);
  EXPECT_TRUE(result.note.stop);
  EXPECT_EQ(weight(engine), 0.5);
}

TEST_F(EngineCommit, stop_is_heard_in_a_step_that_is_not_finite) {
  Engine engine(parts());
  g_stop = true;
  g_norm = INFINITY;
  auto const result = engine.run_step(0);
  EXPECT_EQ(result.word, CommitWord::non_finite);
  EXPECT_TRUE(result.note.stop);
}

// What the comm lane does after the commit may last until the next step's compute. Should a step
// wait for it, it ends by itself, and the test sees that.
TEST(EngineAfterCommit, lets_the_comm_lane_work_on) {
  HandMadeRun made;
  made.segment("last");
  auto const loss = made.buffer(Tier::device, 16), norms = made.buffer(Tier::device, 8),
             control = made.buffer(Tier::device, 8 * kControlWords),
             sent = made.buffer(Tier::device, 64);
  made.op(Lane::compute, {}, {loss, norms});
  made.commit(loss, norms, control);
  auto const late = made.op(Lane::comm, {}, {sent});
  made.complete();
  g_digests.assign(2, 0);
  std::binary_semaphore returned(0);
  std::atomic<bool> has_ended = false;
  g_disturb = [&](Op const& op, std::uint64_t) {
    if (op.id != late) return;
    static_cast<void>(returned.try_acquire_for(std::chrono::seconds(60)));
    has_ended = true;
  };
  auto tiers = make_tiers(made.program, nullptr);
  auto const comm = make_single_rank_comm();
  NoBatches batches;
  Engine engine({made.program, tiers, KernelTable(fake_kernel), *comm, batches, decide});
  engine.run_step(0);
  EXPECT_FALSE(has_ended);
  returned.release();
  engine.finish();
  EXPECT_TRUE(has_ended);
  g_disturb = nullptr;
}

// A comm whose peer has gone by the time of the commit.
class LostComm final : public Comm {
 public:
  LostComm() : Comm({0, 2, 0, 2}) {}
  [[noreturn]] void abort(int) override { std::abort(); }

 private:
  void exchange(Traffic, std::span<Outgoing const>, std::span<Incoming const>) override {
    throw Error(Status::peer_lost, "nobody there");
  }
};

TEST_F(EngineCommit, a_lost_peer_ends_the_step_on_the_callers_thread) {
  m_comm = std::make_unique<LostComm>();
  Engine engine(parts());
  try {
    engine.run_step(0);
    FAIL();
  } catch (Error const& error) {
    EXPECT_EQ(error.status(), Status::peer_lost);
  }
}

// A peer that sends back what it gets, with another checksum of its norms.
class ApartComm final : public Comm {
 public:
  ApartComm() : Comm({0, 2, 0, 2}) {}
  [[noreturn]] void abort(int) override { std::abort(); }

 private:
  void exchange(Traffic, std::span<Outgoing const> outgoing,
                std::span<Incoming const> incoming) override {
    constexpr std::size_t checksum_at = 3 * sizeof(double);  // behind loss, weight and norm
    auto const to = incoming[0].bytes;
    std::ranges::copy(outgoing[0].bytes, to.begin());
    to[checksum_at] ^= std::byte{1};
  }
};

TEST_F(EngineCommit, ranks_with_different_gradients_are_not_trained_further) {
  m_comm = std::make_unique<ApartComm>();
  Engine engine(parts());
  EXPECT_THROW(engine.run_step(0), Error);
}

}  // namespace
}  // namespace spillway::engine_commit_test
