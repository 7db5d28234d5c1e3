// debug.locked_allocator: after the first step every thread of the engine is watched, each by
// itself, but for what ranks say to each other.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "io/ring/scripted_queue.hpp"
#include "tests/support/hand_made_run.hpp"
#include "tests/unit/runtime/miniature.hpp"

namespace spillway::test::engine_locks_test {
namespace {

std::atomic<bool> g_after_step_0 = false;

// Out of the optimiser's sight.
void allocate() {
  static std::vector<int>* volatile kept = nullptr;
  kept = new std::vector<int>(100);
  delete kept;
}

// An op on the compute lane, one on the host lane, and a copy to storage between them.
void run_that_allocates(Lane where) {
  HandMadeRun made;
  made.segment("last");
  auto const a = made.buffer(Tier::device, 64), b = made.buffer(Tier::host, 64);
  auto const away = made.buffer(Tier::nvme, 64);
  auto const computes = made.op(Lane::compute, {}, {a});
  made.copy(Lane::nvme_write, a, away);
  auto const updates = made.op(Lane::host, {}, {b});
  made.complete();
  g_digests.assign(2, 0);
  g_disturb = [&](Op const& op, std::uint64_t) {
    if (op.id == (where == Lane::compute ? computes : updates) && where != Lane::nvme_write)
      allocate();
  };
  auto const script = [&](TransferRequest const& request) -> std::optional<TransferEnding> {
    if (where == Lane::nvme_write && g_after_step_0) allocate();
    return TransferEnding(std::ssize(request.memory));
  };
  SpillFile spill(::testing::TempDir(), made.program.peak_bytes[2], {},
                  MadeQueue{std::make_unique<ScriptedQueue>(4, 1, script), ""});
  auto tiers = make_tiers(made.program, &spill);
  auto const comm = make_single_rank_comm();
  NoBatches batches;
  Engine engine({made.program, tiers, KernelTable(fake_kernel), *comm, batches, {}},
                {.locked_allocator = true});
  engine.run_step(0);
  engine.finish();
  g_after_step_0 = true;
  std::fputs("step 0 may\n", stderr);
  engine.run_step(1);
  engine.finish();
  std::_Exit(0);  // nobody has noticed
}

TEST(LaneLocksDeathTest, watch_each_lane_by_itself) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (auto const where : {Lane::compute, Lane::host, Lane::nvme_write})
    EXPECT_DEATH(run_that_allocates(where), "step 0 may\ndebug.locked_allocator") << name(where);
}

// Steps of one rank that is told that there are two. What it exchanges takes memory each time.
class AllocatingComm final : public Comm {
 public:
  AllocatingComm() : Comm({0, 2, 0, 2}) {}
  [[noreturn]] void abort(int) override { std::abort(); }

 private:
  void exchange(Traffic, std::span<Outgoing const> outgoing,
                std::span<Incoming const> incoming) override {
    allocate();
    std::ranges::copy(outgoing[0].bytes, incoming[0].bytes.begin());
  }
};

class Batches final : public BatchSource {
 public:
  void load(std::int64_t step, std::int64_t, BatchBuffers const& to) override {
    std::ranges::fill(to.get<BatchField::tokens>(), 1);
    if (allocates) allocate();
    if (allocates && step == 0) std::fputs("step 0 may\n", stderr);
  }
  bool allocates = false;
};

class EngineLocks : public MiniatureRun {
 protected:
  EngineLocks() { m_comm = std::make_unique<AllocatingComm>(); }
  void run(int steps) {
    Engine engine(
        {m_small.program, m_tiers, KernelTable(miniature_kernel), *m_comm, source, decide, note},
        {.locked_allocator = true});
    for (int step = 0; step < steps; ++step) EXPECT_EQ(engine.run_step(step).word, CommitWord::go);
    engine.finish();
  }
  Batches source;
};

TEST_F(EngineLocks, leave_ranks_the_memory_for_their_messages) {
  run(4);
}

using EngineLocksDeathTest = EngineLocks;
TEST_F(EngineLocksDeathTest, watch_batches) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  source.allocates = true;
  EXPECT_DEATH(run(2), "step 0 may\ndebug.locked_allocator");
}

}  // namespace
}  // namespace spillway::test::engine_locks_test
