// A step whose commit does not know the norms of gradients: a report behind its updates tells them.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "tests/support/engine_fakes.hpp"
#include "tests/support/hand_made_run.hpp"

namespace spillway::test::late_norms_test {
namespace {

enum { op_loss, op_norm };
double g_norm = 0, g_loss = 0;
int g_decisions = 0, g_questions = 0, g_stop_at = 0;
std::vector<CommitSums> g_sums;

Launch bind_small(KernelContext const&, Op const& op) {
  return [id = op.id](Exec const&, void* const* p) {
    if (id == op_loss) {
      static_cast<double*>(p[0])[0] = g_loss;
      static_cast<double*>(p[0])[1] = 3;
    } else {
      *static_cast<double*>(p[1]) = g_norm;
    }
  };
}
Kernel small_kernel(OpKind) {
  return {bind_small, bind_small};
}

// Numbers its decisions by their learning rates.
CommitDecision decide(CommitSums const& sums) {
  g_sums.push_back(sums);
  CommitDecision decision;
  if (!std::isfinite(sums.loss_sum)) decision.word = CommitWord::non_finite;
  decision.grad_norm = std::sqrt(sums.norm_squared);
  decision.learning_rate = decision.control[control_learning_rate] = ++g_decisions;
  return decision;
}
RankNote note() {
  return {.stop = ++g_questions == g_stop_at};
}

class LateNorms : public ::testing::Test {
 protected:
  LateNorms() {
    auto& program = m_made.program;
    m_made.segment("last");
    auto const loss = scalars(2), norms = scalars(1);
    m_control = scalars(kControlWords);
    m_made.op(Lane::compute, {}, {loss});
    m_made.segment("update");
    auto& commit = program.items[m_made.item(Lane::comm, {loss}, {m_control})];
    commit.kind = ItemKind::commit;
    commit.operands = {loss, m_control};
    m_made.op(Lane::compute, {m_control}, {norms});
    auto& report = program.items[m_made.item(Lane::comm, {loss, norms}, {})];
    report.kind = ItemKind::report;
    report.operands = {loss, norms};
    program.known.loss = loss;
    program.known.norms = norms;
    program.known.control = m_control;
    m_made.complete();
  }
  void SetUp() override {
    g_norm = 25;
    g_loss = 6;
    g_decisions = g_questions = g_stop_at = 0;
    g_sums.clear();
  }
  BufferId scalars(std::int64_t words) {
    auto const id = m_made.buffer(Tier::device, 8 * words);
    m_made.at_buffer(id).spanning = true;
    return id;
  }
  // The step with the number 7, and what its control words are.
  StepResult result() {
    auto tiers = make_tiers(m_made.program, nullptr);
    Engine engine(
        {m_made.program, tiers, KernelTable(small_kernel), *m_comm, m_batches, decide, note});
    auto const result = engine.run_step(7);
    engine.finish();
    std::memcpy(m_words.data(), engine.bytes(m_control).data(), sizeof m_words);
    return result;
  }

  HandMadeRun m_made;
  BufferId m_control = -1;
  std::array<double, kControlWords> m_words{};
  std::unique_ptr<Comm> m_comm = make_single_rank_comm();
  NoBatches m_batches;
};

TEST_F(LateNorms, are_reported_behind_a_decision_that_did_not_know_them) {
  auto const step = result();
  EXPECT_EQ(step.word, CommitWord::go);
  EXPECT_EQ(step.loss_sum, 6);
  EXPECT_EQ(step.weight_sum, 3);
  EXPECT_EQ(step.grad_norm, 5);
  EXPECT_EQ(step.learning_rate, 2);
  EXPECT_FALSE(step.note.stop);
  ASSERT_EQ(g_sums.size(), 2u);
  EXPECT_EQ(g_sums[0].norm_squared, 0);
  EXPECT_EQ(g_sums[1].norm_squared, 25);
  for (auto const& sums : g_sums) {
    EXPECT_EQ(sums.step, 7);
    EXPECT_EQ(sums.loss_sum, 6);
    EXPECT_EQ(sums.weight_sum, 3);
  }
  EXPECT_EQ(m_words[control_go], 1);
  EXPECT_EQ(m_words[control_learning_rate], 1) << "updates go by the decision before them";
}

TEST_F(LateNorms, are_not_reported_of_a_step_that_is_not_committed) {
  g_loss = NAN;
  auto const step = result();
  EXPECT_EQ(step.word, CommitWord::non_finite);
  EXPECT_EQ(step.learning_rate, 1);
  EXPECT_EQ(g_decisions, 1);
  EXPECT_EQ(m_words[control_go], 0);
}

// A signal that comes between the two is heard, and one that came before them is not forgotten.
TEST_F(LateNorms, leave_a_request_to_stop_as_it_was) {
  g_stop_at = 1;
  EXPECT_TRUE(result().note.stop);
  EXPECT_EQ(g_questions, 2);
  SetUp();
  g_stop_at = 2;
  EXPECT_TRUE(result().note.stop);
  SetUp();
  g_stop_at = 3;
  EXPECT_FALSE(result().note.stop);
}

}  // namespace
}  // namespace spillway::test::late_norms_test
