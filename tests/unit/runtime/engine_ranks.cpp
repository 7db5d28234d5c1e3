// How a step ends when other ranks bring other numbers to its commit than this one.
#include <gtest/gtest.h>

#include <array>

#include "base/error.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/runtime/miniature.hpp"

namespace spillway::engine_ranks_test {
namespace {

using namespace test;

// What a rank sends.
struct SentShare {
  double loss_sum, weight_sum, norm_squared;
  std::uint64_t norms_checksum;
  std::int64_t storage_failed, state_lost;
  RankNote note;
};

// Ranks 0 and 2 send what rank 1 sends, but for what a test changes.
class ThreeRanks final : public Comm {
 public:
  ThreeRanks() : Comm({1, 3, 1, 3, 0}) {}
  [[noreturn]] void abort(int) override { std::abort(); }

  std::array<std::function<void(SentShare&)>, 3> changes;

 private:
  void exchange(Traffic, std::span<Outgoing const> outgoing,
                std::span<Incoming const> incoming) override {
    SentShare share{};
    ASSERT_EQ(outgoing[0].bytes.size(), sizeof share);
    std::memcpy(&share, outgoing[0].bytes.data(), sizeof share);
    ASSERT_EQ(incoming.size(), 1u);
    auto const& change = changes[static_cast<std::size_t>(incoming[0].from)];
    if (change) change(share);
    std::memcpy(incoming[0].bytes.data(), &share, sizeof share);
  }
};

class EngineRanks : public MiniatureRun {
 protected:
  EngineRanks() { m_comm = std::make_unique<ThreeRanks>(); }

  // `rank` sends this.
  void change(std::size_t rank, std::function<void(SentShare&)> how) {
    dynamic_cast<ThreeRanks&>(*m_comm).changes[rank] = std::move(how);
  }
  StepResult result_of(std::int64_t step) {
    Engine engine(parts());
    auto const result = engine.run_step(step);
    EXPECT_EQ(weight(engine), result.word == CommitWord::go ? m_before += 0.5 : m_before);
    return result;
  }

  double m_before = 0;  // the weight, which an update makes larger
};

TEST_F(EngineRanks, losses_and_weights_are_added_and_the_norm_is_that_of_all) {
  change(0, [](SentShare& share) {
    share.loss_sum += 1000, share.weight_sum += 100, share.norm_squared = 9;
  });
  change(2, [](SentShare& share) { share.loss_sum += 20'000, share.weight_sum += 3000; });
  auto const result = result_of(1);
  EXPECT_EQ(result.word, CommitWord::go);
  EXPECT_EQ(result.loss_sum, 3 * 160 + 21'000);
  EXPECT_EQ(result.weight_sum, 3 * 16 + 3100);
  EXPECT_EQ(result.grad_norm, 3.0 / 3148);
  EXPECT_EQ(result.learning_rate, 0.5);
  EXPECT_FALSE(result.note.stop);
}

TEST_F(EngineRanks, what_one_knows_all_do) {
  for (std::size_t const rank : {0u, 2u}) {
    change(rank, [](SentShare& share) { share.note = {.stop = true}; });
    auto const stopped = result_of(3);
    EXPECT_EQ(stopped.word, CommitWord::go) << rank;
    EXPECT_TRUE(stopped.note.stop) << rank;

    change(rank, [](SentShare& share) { share.storage_failed = 1; });
    auto const failed = result_of(3);
    EXPECT_EQ(failed.word, CommitWord::storage_error) << rank;
    EXPECT_FALSE(failed.note.stop) << rank;

    change(rank, [](SentShare& share) {
      share.state_lost = 1;
      share.note.stop = true;
    });
    auto const lost = result_of(3);
    EXPECT_EQ(lost.word, CommitWord::state_lost) << rank;
    EXPECT_TRUE(lost.note.stop) << rank;

    change(rank, [](SentShare& share) { share.storage_failed = share.state_lost = 1; });
    EXPECT_EQ(result_of(3).word, CommitWord::state_lost) << rank;
    change(rank, nullptr);
  }
}

TEST_F(EngineRanks, tell_each_other_the_largest_of_their_notes) {
  change(0, [](SentShare& share) { share.note = {.save = true, .step_s = 2}; });
  change(2, [](SentShare& share) { share.note.step_s = 3; });
  auto const note = result_of(1).note;
  EXPECT_TRUE(note.save);
  EXPECT_FALSE(note.stop);
  EXPECT_EQ(note.step_s, 3);
  change(0, nullptr);
  change(2, nullptr);
  EXPECT_FALSE(result_of(2).note.save);
  EXPECT_EQ(result_of(2).note.step_s, 0);
}

// Two records take turns, and the third step knows nothing of the first.
TEST_F(EngineRanks, tell_each_other_what_they_have_waited) {
  Engine engine(parts());
  change(0, [](SentShare& share) { share.note.wait = {3, 2, 2}; });
  change(2, [](SentShare& share) { share.note.wait = {0.5, 0, 0.25}; });
  for (std::int64_t const step : {1, 2, 3}) {
    auto const waits = engine.run_step(step).waits;
    ASSERT_EQ(waits.size(), 3u);
    EXPECT_EQ(waits[0].waited_s, 3);
    EXPECT_EQ(waits[0].awaited_s, 0.25);
    EXPECT_EQ(waits[1].waited_s, 0);
    EXPECT_EQ(waits[1].awaited_s, 0);
    EXPECT_EQ(waits[2].waited_s, 0.5);
    EXPECT_EQ(waits[2].awaited_s, 2);
  }
}

TEST_F(EngineRanks, with_other_gradients_end_the_run_and_are_told) {
  auto const apart =
      "step 7: ranks hold different gradients; check the memory of the machines and start again "
      "from the last checkpoint";
  for (std::size_t const rank : {0u, 2u}) {
    change(rank, [](SentShare& share) { ++share.norms_checksum; });
    EXPECT_EQ(refused_with([&] { result_of(7); }, Status::damaged), apart) << rank;
    change(rank, [](SentShare& share) { ++share.norms_checksum, share.norm_squared = NAN; });
    EXPECT_EQ(refused_with([&] { result_of(7); }, Status::damaged), apart) << rank;
    change(rank, nullptr);
  }
}

// Numbers that are none have bits of their own on each rank, and gradients of a step that storage
// failed in are not complete.
TEST_F(EngineRanks, may_have_other_bits_where_they_have_no_numbers) {
  change(2, [](SentShare& share) { ++share.norms_checksum, share.storage_failed = 1; });
  EXPECT_EQ(result_of(7).word, CommitWord::storage_error);
  change(2, [](SentShare& share) { ++share.norms_checksum, share.state_lost = 1; });
  EXPECT_EQ(result_of(7).word, CommitWord::state_lost);
  change(2, [](SentShare& share) { ++share.norms_checksum; });
  g_norm = NAN;
  EXPECT_EQ(result_of(7).word, CommitWord::non_finite);
}

}  // namespace
}  // namespace spillway::engine_ranks_test
