// What a run says and does about storage that fails it.
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/captured_log.hpp"
#include "train/storage_failure_policy.hpp"

namespace spillway::train_storage_failure_policy_test {
namespace {

class StorageFailures : public ::testing::Test {
 protected:
  void fail_at(std::int64_t offset_bytes) {
    Bytes bytes(100);
    EXPECT_NE(m_spill.write(offset_bytes, bytes), IoResult::ok);
  }
  // What has been said since the last call.
  std::string said() { return m_log.taken(); }
  static bool names(std::string const& text, std::int64_t offset_bytes) {
    return text.find("write of 100 bytes at " + std::to_string(offset_bytes) + ": ") != text.npos;
  }

  using Bytes = std::vector<std::byte>;
  test::CapturedLog m_log;
  FaultOnNth m_faults{Fault::error, 0, 1, true};
  SpillFile m_spill{::testing::TempDir(), 4 * kSpillAlignment, {.faults = &m_faults}};
  std::unique_ptr<Comm> m_comm = make_single_rank_comm();
  StorageFailurePolicy m_storage_failures{&m_spill, *m_comm};
};

TEST_F(StorageFailures, cost_a_step_three_tries_each_with_its_own_reason) {
  for (std::int64_t i = 0; i < 3; ++i) {
    fail_at(i * kSpillAlignment);
    auto const status = m_storage_failures.after(CommitWord::storage_error, 7);
    EXPECT_EQ(status, i < 2 ? std::nullopt : std::optional(Status::storage));
    auto const text = said();
    EXPECT_TRUE(names(text, i * kSpillAlignment)) << text;
    EXPECT_TRUE(text.starts_with(i < 2 ? "warning: rank 0: " : "error: rank 0: ")) << text;
    EXPECT_TRUE(text.ends_with(i < 2 ? "; step 7 is done again\n"
                                     : "; step 7 is not done and the run stops before it\n"))
        << text;
  }
  EXPECT_FALSE(m_storage_failures.state_lost());
}

// Only when tries do not help; from then on there are three again.
TEST_F(StorageFailures, are_over_where_another_plan_does_without_storage) {
  int asked = 0;
  auto const without = [&] { return ++asked == 1; };
  for (int failure = 1; failure <= 6; ++failure) {
    fail_at(0);
    auto const status = m_storage_failures.after(CommitWord::storage_error, 7, without);
    EXPECT_EQ(status, failure < 6 ? std::nullopt : std::optional(Status::storage));
    EXPECT_EQ(asked, failure / 3);
    bool const done_without = said().find("done again, without storage") != std::string::npos;
    EXPECT_EQ(done_without, failure == 3);
  }
}

// What is done about it is a move, which may fail too.
TEST_F(StorageFailures, end_the_run_where_state_is_lost_on_the_way_to_another_plan) {
  auto const loses = [&] {
    m_storage_failures.lose_state();
    return false;
  };
  for (int failure = 1; failure <= 3; ++failure) {
    fail_at(0);
    auto const status = m_storage_failures.after(CommitWord::storage_error, 7, loses);
    EXPECT_EQ(status, failure < 3 ? std::nullopt : std::optional(Status::storage));
  }
  EXPECT_TRUE(m_storage_failures.state_lost());
  EXPECT_EQ(said().find("the run stops before it"), std::string::npos);
}

TEST_F(StorageFailures, on_the_way_to_another_plan_are_errors_that_name_what_is_lost) {
  fail_at(2 * kSpillAlignment);
  m_storage_failures.lose_state();
  auto const text = said();
  EXPECT_TRUE(names(text, 2 * kSpillAlignment)) << text;
  EXPECT_TRUE(text.starts_with("error: rank 0: ")) << text;
  EXPECT_TRUE(
      text.ends_with("; a step was committed without it; the last checkpoint is unharmed\n"))
      << text;
  EXPECT_TRUE(m_storage_failures.state_lost());
}

// As a rank has none whose part of the plan spills nothing.
TEST_F(StorageFailures, of_a_rank_without_a_spill_file_are_others_to_tell) {
  StorageFailurePolicy none(nullptr, *m_comm);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(none.after(CommitWord::storage_error, 7),
              i < 2 ? std::nullopt : std::optional(Status::storage));
  none.forget();
  EXPECT_FALSE(none.state_lost());
  EXPECT_EQ(none.after(CommitWord::state_lost, 7), Status::storage);
  EXPECT_TRUE(none.state_lost());
  EXPECT_EQ(said(), "");
}

TEST_F(StorageFailures, are_forgotten_by_a_step_that_counts) {
  for (int step = 1; step < 9; ++step) {
    fail_at(0);
    EXPECT_FALSE(m_storage_failures.after(CommitWord::storage_error, step));
    EXPECT_FALSE(m_storage_failures.after(CommitWord::go, step));
  }
}

// The step that was to be done again finds that the one before it is lost.
TEST_F(StorageFailures, that_cost_more_than_a_step_are_named_though_they_were_told_before) {
  fail_at(kSpillAlignment);
  EXPECT_FALSE(m_storage_failures.after(CommitWord::storage_error, 2));
  said();
  EXPECT_EQ(m_storage_failures.after(CommitWord::state_lost, 2), Status::storage);
  auto const text = said();
  EXPECT_TRUE(names(text, kSpillAlignment)) << text;
  EXPECT_TRUE(text.starts_with("error: rank 0: ")) << text;
  EXPECT_TRUE(
      text.ends_with("; a step was committed without it; the last checkpoint is unharmed\n"))
      << text;
  EXPECT_TRUE(m_storage_failures.state_lost());
}

}  // namespace
}  // namespace spillway::train_storage_failure_policy_test
