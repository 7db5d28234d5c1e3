// Storage that fails some ranks: one of those tells of it, and all decide alike.
#include "train/storage_failure_policy.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/captured_log.hpp"
#include "tests/support/kokkos_environment.hpp"
#include "tests/support/on_ranks.hpp"

namespace spillway::test {
namespace {

Comm* g_comm = nullptr;

class StorageFailuresOfRanks : public ::testing::Test {
 protected:
  void fail_at(std::int64_t place) {
    std::vector<std::byte> bytes(100);
    EXPECT_NE(m_spill.write(place * kSpillAlignment, bytes), IoResult::ok);
  }
  // Expects that `rank`, and no other, has told of a failure there since the last call.
  void expect_told(int rank, std::string const& level, std::int64_t place) {
    auto const said = m_log.taken();
    if (rank != g_comm->rank()) {
      EXPECT_EQ(said, "");
      return;
    }
    EXPECT_TRUE(said.starts_with(fmt::format("{}: rank {}: ", level, rank))) << said;
    auto const where = fmt::format("write of 100 bytes at {}: ", place * kSpillAlignment);
    EXPECT_NE(said.find(where), said.npos) << said;
  }

  CapturedLog m_log;
  FaultOnNth m_faults{Fault::error, 0, 1, true};
  SpillFile m_spill{::testing::TempDir(), 4 * kSpillAlignment, {.faults = &m_faults}};
  StorageFailurePolicy m_storage_failures{&m_spill, *g_comm};
};

TEST_F(StorageFailuresOfRanks, are_told_by_the_lowest_rank_that_they_happened_to) {
  int const last = g_comm->size() - 1;
  if (g_comm->rank() == last) fail_at(1);
  EXPECT_EQ(m_storage_failures.after(CommitWord::storage_error, 7), std::nullopt);
  expect_told(last, "warning", 1);
  fail_at(2);
  EXPECT_EQ(m_storage_failures.after(CommitWord::storage_error, 7), std::nullopt);
  expect_told(0, "warning", 2);
  if (g_comm->rank() == last) fail_at(3);
  EXPECT_EQ(m_storage_failures.after(CommitWord::storage_error, 7), Status::storage);
  expect_told(last, "error", 3);
}

// It was told as one that costs a step.
TEST_F(StorageFailuresOfRanks, that_cost_more_than_a_step_are_told_again_by_the_same_rank) {
  int const last = g_comm->size() - 1;
  if (g_comm->rank() == last) fail_at(1);
  EXPECT_EQ(m_storage_failures.after(CommitWord::storage_error, 7), std::nullopt);
  expect_told(last, "warning", 1);
  EXPECT_EQ(m_storage_failures.after(CommitWord::state_lost, 7), Status::storage);
  expect_told(last, "error", 1);
  EXPECT_TRUE(m_storage_failures.state_lost());
}

}  // namespace
}  // namespace spillway::test

int main(int argc, char** argv) {
  return spillway::test::run_on_ranks(argc, argv, spillway::test::g_comm);
}
