// State that lives in the spill file: it is read before the commit, updated, and written back after
// it. Whatever fails, the file holds the state of the last committed step, or it is known to be
// lost.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "base/error.hpp"
#include "io/spill/spill_file.hpp"
#include "plan/proof/verify.hpp"
#include "tests/support/engine_fakes.hpp"
#include "tests/support/hand_made_run.hpp"

namespace spillway::engine_write_back_test {
namespace {

using namespace test;

double g_norm = 4;  // of every step's gradient

enum { op_gradient, op_update };

// gradient: loss and norm; update: one more, committed or not.
Launch bind_op(KernelContext const&, Op const& op) {
  return [id = op.id](Exec const&, void* const* p) {
    if (id == op_gradient) {
      static_cast<double*>(p[1])[0] = static_cast<double*>(p[1])[1] = 1;
      *static_cast<double*>(p[2]) = g_norm;
    } else {
      *static_cast<double*>(p[2]) += 1;
    }
  };
}
Kernel kernels(OpKind) {
  return {bind_op, bind_op};
}

CommitDecision decide(CommitSums const& sums) {
  CommitDecision decision;
  if (!std::isfinite(sums.norm_squared)) decision.word = CommitWord::non_finite;
  return decision;
}

class EngineWriteBack : public ::testing::Test {
 protected:
  EngineWriteBack() {
    auto const loss = scalar(2), norms = scalar(1), control = scalar(kControlWords);
    auto const state = m_made.buffer(Tier::device, 64);
    m_away = m_made.buffer(Tier::nvme, 64);
    m_made.at_buffer(m_away).persistent = true;
    m_made.segment("last");
    m_made.copy(Lane::nvme_read, m_away, state);
    m_made.op(Lane::compute, {state}, {loss, norms});  // so the commit comes after the read
    m_made.at_buffer(state).spanning = true;
    m_made.segment("update");
    m_made.commit(loss, norms, control);
    m_made.op(Lane::compute, {control, state}, {state});
    m_made.write_back(Lane::nvme_write, state, m_away, control);
    m_made.complete();
  }
  void SetUp() override { g_norm = 4; }

  BufferId scalar(std::int64_t words) {
    auto const id = m_made.buffer(Tier::device, 8 * words);
    m_made.at_buffer(id).spanning = true;
    return id;
  }

  // The file with the state 0, and what runs on it.
  void start(FaultInjector* faults) {
    auto const& program = m_made.program;
    m_spill.emplace(::testing::TempDir(), program.peak_bytes[2], SpillSettings{.faults = faults});
    m_tiers.reset(new Tiers(make_tiers(program, &*m_spill)));
    double const zeros[8] = {};
    ASSERT_EQ(m_spill->write(offset(), std::as_bytes(std::span(zeros))), IoResult::ok);
    m_engine.emplace(
        EngineParts{program, *m_tiers, KernelTable(kernels), *m_comm, m_batches, decide, nullptr});
  }
  std::int64_t offset() { return m_made.at_buffer(m_away).offset; }
  // After the engine has finished.
  double stored() {
    double state[8] = {};
    EXPECT_EQ(m_spill->read(offset(), std::as_writable_bytes(std::span(state))), IoResult::ok);
    return state[0];
  }

  HandMadeRun m_made;
  BufferId m_away = -1;
  std::unique_ptr<Comm> m_comm = make_single_rank_comm();
  NoBatches m_batches;
  std::optional<SpillFile> m_spill;
  std::unique_ptr<Tiers> m_tiers;  // cannot be moved
  std::optional<Engine> m_engine;
};

TEST_F(EngineWriteBack, is_proved_with_its_third_operand) {
  auto const violation = verify(m_made.program);
  EXPECT_FALSE(violation) << violation->why;
}

TEST_F(EngineWriteBack, committed_steps_reach_the_file_and_others_do_not) {
  start(nullptr);
  for (int step = 0; step < 5; ++step) EXPECT_EQ(m_engine->run_step(step).word, CommitWord::go);
  g_norm = INFINITY;
  EXPECT_EQ(m_engine->run_step(5).word, CommitWord::non_finite);
  m_engine->finish();
  EXPECT_EQ(stored(), 5);
  g_norm = 4;
  EXPECT_EQ(m_engine->run_step(6).word, CommitWord::go);
  m_engine->finish();
  EXPECT_EQ(stored(), 6);
}

TEST_F(EngineWriteBack, bytes_are_counted_in_the_step_that_moved_them_or_a_later_one) {
  start(nullptr);
  std::int64_t spilled = 0, reloaded = 0;
  for (int step = 0; step < 50; ++step) {
    auto const result = m_engine->run_step(step);
    spilled += result.lanes.use[index(Lane::nvme_write)].bytes;
    reloaded += result.lanes.use[index(Lane::nvme_read)].bytes;
  }
  EXPECT_EQ(reloaded, 50 * 64);
  EXPECT_GE(spilled, 48 * 64);
  m_engine->finish();
  spilled += m_engine->run_step(50).lanes.use[index(Lane::nvme_write)].bytes;
  EXPECT_GE(spilled, 50 * 64);
}

TEST_F(EngineWriteBack, state_that_cannot_be_read_is_old_state_and_the_step_is_done_again) {
  FaultOnNth faults(Fault::error, 3, 0);
  start(&faults);
  for (int step = 0; step < 2; ++step) EXPECT_EQ(m_engine->run_step(step).word, CommitWord::go);
  EXPECT_EQ(m_engine->run_step(2).word, CommitWord::storage_error);
  m_engine->finish();
  EXPECT_EQ(stored(), 2);
  EXPECT_EQ(m_engine->run_step(2).word, CommitWord::go);
  m_engine->finish();
  EXPECT_EQ(stored(), 3);
}

TEST_F(EngineWriteBack, state_that_cannot_be_written_after_its_commit_is_lost) {
  FaultOnNth faults(Fault::error, 0, 3);  // the first write is the test's own
  start(&faults);
  EXPECT_EQ(m_engine->run_step(0).word, CommitWord::go);
  EXPECT_EQ(m_engine->run_step(1).word, CommitWord::go);
  for (int i = 0; i < 2; ++i) {
    try {
      m_engine->finish();
      FAIL() << "the state of step 1 is not in the file";
    } catch (Error const& error) {
      EXPECT_EQ(error.status(), Status::storage);
      EXPECT_EQ(error.what(), m_spill->first_failure());
    }
  }
  auto const result = m_engine->run_step(2);
  EXPECT_EQ(result.word, CommitWord::state_lost);
  EXPECT_EQ(m_spill->counters().written_bytes, 2 * 64) << "nothing is written any more";
}

TEST(FailureLog, tells_what_a_commit_has_seen) {
  FailureLog before, after, between, transient;
  EXPECT_FALSE(before.note(true));
  EXPECT_TRUE(before.close_for_commit());
  EXPECT_FALSE(before.decide(false));

  EXPECT_FALSE(after.close_for_commit());
  EXPECT_FALSE(after.decide(true));
  EXPECT_TRUE(after.note(true));
  EXPECT_TRUE(after.any());
  EXPECT_TRUE(after.spoils_updates());

  EXPECT_FALSE(between.close_for_commit());
  EXPECT_FALSE(between.note(true));
  EXPECT_TRUE(between.decide(true));

  EXPECT_FALSE(transient.close_for_commit());
  EXPECT_FALSE(transient.decide(true));
  EXPECT_FALSE(transient.note(false));
  EXPECT_TRUE(transient.any());
  EXPECT_FALSE(transient.spoils_updates()) << "its updates are written back";
  transient.reset();
  EXPECT_FALSE(transient.any());
}

// What was not let go loses nothing, whenever a transfer fails.
TEST(FailureLog, loses_nothing_of_a_step_that_is_not_committed) {
  FailureLog after, between, twice;
  EXPECT_FALSE(after.close_for_commit());
  EXPECT_FALSE(after.decide(false));
  EXPECT_FALSE(after.note(true));
  EXPECT_TRUE(after.spoils_updates());

  EXPECT_FALSE(between.close_for_commit());
  EXPECT_FALSE(between.note(true));
  EXPECT_FALSE(between.decide(false));

  EXPECT_FALSE(twice.note(false));
  EXPECT_FALSE(twice.spoils_updates());
  EXPECT_TRUE(twice.close_for_commit()) << "the step is done again, whatever has failed";
  EXPECT_FALSE(twice.decide(false));
  twice.reset();
  EXPECT_FALSE(twice.close_for_commit());
  EXPECT_FALSE(twice.decide(true));
  EXPECT_TRUE(twice.note(true));
}

}  // namespace
}  // namespace spillway::engine_write_back_test
