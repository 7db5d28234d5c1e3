// What points of a curve are measured at, and what becomes of those that cannot be.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "rok/rok.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/support/resource_limit.hpp"
#include "tests/support/tiny_gpt.hpp"

namespace spillway::test::rok_points_test {
namespace {

constexpr std::int64_t kGib = std::int64_t{1} << 30;
using Rows = std::vector<RokRow>;
// Policies that take activations to host memory are left out, since there is none here.
constexpr std::size_t kPoliciesHere = 6;

// All in one process, whose kernels' runtime begins once.
class RokPoints : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    auto config = tiny_config();
    config.run.threads = 1;
    s_comm = make_single_rank_comm();
    s_here = std::make_unique<ComputeHere>(config, RunCores(), nullptr, FoundBackend{}, *s_comm);
  }
  static void TearDownTestSuite() {
    s_here.reset();
    s_comm.reset();
  }

  RokPoints() {
    std::string const machine = ::testing::TempDir() + "rok_points.yaml";
    std::ofstream(machine) << "matmul_gflops: {fp32: 100}\nmemory_gbps: 10\n"
                              "nvme: {read_gbps: 1, write_gbps: 1}\n";
    m_config.model.hidden = 64;
    m_config.data.sequence = 64;
    m_config.memory.nvme_paths = std::vector<std::string>{::testing::TempDir()};
    m_config.debug.machine = machine;
    m_config.debug.kernels = KernelSet::portable;
    m_config.debug.force_backend = Backend::posix;
  }

  using Told = std::function<void(RokRow const&, std::int64_t left)>;
  Rows all(
      std::vector<std::int64_t> const& micros, std::int64_t steps,
      Told const& told = [](RokRow const&, std::int64_t) {},
      Budgets budgets = {kGib, 0, kGib}) const {
    return measure_rok({m_config, nullptr, kTinyVocab, budgets, steps, *s_here, *s_comm}, micros,
                       told);
  }
  // Of points of one policy for all layers.
  Rows measured(
      std::vector<std::int64_t> const& micros, std::int64_t steps,
      std::function<void(RokRow const&)> const& told = [](RokRow const&) {}) const {
    auto rows = all(micros, steps, [&](RokRow const& row, std::int64_t) {
      if (row.policy) told(row);
    });
    std::erase_if(rows, [](RokRow const& row) { return !row.policy; });
    return rows;
  }
  static bool spills(RokRow const& row) { return away_tier(*row.policy) == Tier::nvme; }

  static inline std::unique_ptr<Comm> s_comm;
  static inline std::unique_ptr<ComputeHere> s_here;
  Config m_config = tiny_config();
};

// Policies take turns, since speed drifts; curves are of one policy each.
TEST_F(RokPoints, are_measured_size_by_size_and_listed_policy_by_policy) {
  Rows told;
  auto const rows = measured({1, 2}, 2, [&](RokRow const& row) { told.push_back(row); });
  ASSERT_EQ(rows.size(), 2 * kPoliciesHere);
  ASSERT_EQ(told.size(), 2 * kPoliciesHere);
  for (std::size_t i = 0; i < kPoliciesHere; ++i) {
    EXPECT_EQ(told[i].micro, 1) << i;
    EXPECT_EQ(told[i + kPoliciesHere].micro, 2) << i;
    EXPECT_EQ(told[i].policy, told[i + kPoliciesHere].policy) << i;
    EXPECT_EQ(rows[2 * i].micro, 1) << i;
    EXPECT_EQ(rows[2 * i + 1].micro, 2) << i;
    EXPECT_EQ(rows[2 * i].policy, rows[2 * i + 1].policy) << i;
    if (i > 0) {
      EXPECT_LT(rows[2 * i - 1].policy, rows[2 * i].policy) << i;
    }
  }
  for (auto const& row : rows) {
    EXPECT_EQ(row.sequence, 64);
    EXPECT_TRUE(row.fits()) << row.why;
    EXPECT_EQ(row.planned_bytes, row.peak_bytes);
  }
}

// Fewer budgets than there might be, as where nothing fits, are points that nobody waits for.
TEST_F(RokPoints, are_told_with_how_many_are_to_come_and_the_last_with_none) {
  for (std::int64_t const device_bytes : {kGib, std::int64_t{4096}}) {
    Budgets const budgets{device_bytes, 0, kGib};
    std::int64_t told = 0, most = most_points(std::vector<std::int64_t>{1, 2}, budgets), last = -1;
    auto const rows = all(
        {1, 2}, 2,
        [&](RokRow const&, std::int64_t left) {
          EXPECT_LE(++told + left, most);
          most = told + left;
          last = left;
        },
        budgets);
    EXPECT_EQ(told, std::ssize(rows));
    EXPECT_EQ(last, 0);
    EXPECT_EQ(told == 2 * static_cast<std::int64_t>(kPoliciesHere), device_bytes < kGib);
  }
}

// Of 2 steps one counts: it is the least, the middle and the most.
TEST_F(RokPoints, do_not_count_the_first_step_and_have_the_bytes_of_one) {
  auto const two = measured({1}, 2), five = measured({1}, 5);
  ASSERT_EQ(two.size(), five.size());
  for (std::size_t i = 0; i < two.size(); ++i) {
    EXPECT_GT(two[i].step_s, 0);
    EXPECT_EQ(two[i].least_step_s, two[i].step_s);
    EXPECT_EQ(two[i].most_step_s, two[i].step_s);
    EXPECT_EQ(two[i].spilled_bytes > 0, spills(two[i])) << two[i].name();
    EXPECT_EQ(two[i].spilled_bytes, five[i].spilled_bytes) << two[i].name();
  }
}

// Of every weight that is the master and two moments. A layer has 12 times the square of its width
// of weights, without biases; this model has two, and fewer than as many weights again.
TEST_F(RokPoints, have_all_activations_that_lie_beside_what_persists) {
  auto const rows = measured({2}, 2);
  constexpr std::int64_t least = 12 * (2 * 12 * 64 * 64);
  for (auto const& row : rows) {
    auto const persistent = row.peak_bytes[index(Tier::device)] - row.activation_bytes;
    EXPECT_GT(persistent, least) << row.name();
    EXPECT_LT(persistent, 2 * least) << row.name();
    EXPECT_GT(row.activation_bytes, 0) << row.name();
  }
}

// The planner has as much as some of them took, and never less than the least.
TEST_F(RokPoints, of_the_planner_come_first_and_take_no_more_than_uniform_ones) {
  auto const rows = all({1, 2}, 2);
  std::size_t planned = 0;
  for (; !rows[planned].policy; ++planned) {
    auto const& row = rows[planned];
    EXPECT_EQ(row.name(), "auto");
    EXPECT_TRUE(row.fits()) << row.why;
    EXPECT_EQ(row.planned_bytes, row.peak_bytes);
    std::int64_t most = 0;
    for (auto const& other : rows)
      if (other.policy && other.micro == row.micro)
        most = std::max(most, other.planned_bytes[Tier::device]);
    EXPECT_LE(row.planned_bytes[Tier::device], most);
  }
  EXPECT_GE(planned, 4u) << "at least two budgets, for two sizes";
  EXPECT_LE(planned, 2u * kMostRokBudgets);
  EXPECT_EQ(rows.size(), planned + 2 * kPoliciesHere);
}

TEST(RokBudgets, are_the_least_the_middle_and_the_most_of_what_fits) {
  auto const budgets = [](std::vector<std::int64_t> const& all) {
    Rows rows;
    for (auto const bytes : all) rows.emplace_back().planned_bytes[Tier::device] = bytes;
    rows.emplace_back().why = "does not fit";
    return rok_budgets(rows);
  };
  EXPECT_EQ(budgets({5, 1, 9, 3}), (std::vector<std::int64_t>{1, 5, 9}));
  EXPECT_EQ(budgets({4, 4}), (std::vector<std::int64_t>{4}));
  EXPECT_TRUE(budgets({}).empty());
}

TEST_F(RokPoints, leave_state_where_the_user_wants_it) {
  for (auto const& row : measured({1}, 2))
    EXPECT_EQ(row.peak_bytes[index(Tier::nvme)] > 0, spills(row)) << row.name();
  m_config.plan.optimizer = {Tier::nvme};
  for (auto const& row : measured({1}, 2)) {
    EXPECT_TRUE(row.fits()) << row.why;
    EXPECT_GT(row.peak_bytes[index(Tier::nvme)], 0) << row.name();
  }
}

TEST_F(RokPoints, that_find_less_storage_than_was_promised_say_so_and_the_others_are_measured) {
  Rows rows;
  {
    FileSizeLimit const limit(1 << 20);
    rows = measured({1}, 2);
  }
  ASSERT_EQ(rows.size(), kPoliciesHere);
  for (auto const& row : rows) {
    EXPECT_EQ(row.fits(), !spills(row)) << row.name() << row.why;
    EXPECT_GT(row.planned_bytes[index(Tier::device)], 0) << row.name();
    EXPECT_GT(row.predicted_step_s, 0) << row.name();
    if (row.fits()) continue;
    EXPECT_NE(row.why.find(" cannot hold the spill file: "), row.why.npos) << row.why;
    EXPECT_EQ(row.peak_bytes[index(Tier::device)], 0) << row.name();
  }
}

TEST_F(RokPoints, end_where_storage_fails_and_say_what_failed) {
  m_config.debug.fault = "storage-read-all:1";
  std::size_t told = 0;
  auto const why =
      refused_with([&] { measured({1}, 2, [&](RokRow const&) { ++told; }); }, Status::storage);
  EXPECT_NE(why.find(": read of "), why.npos) << why;
  EXPECT_EQ(told, 3u) << "those that read nothing";
}

TEST_F(RokPoints, end_where_the_loss_is_not_finite) {
  m_config.optim.lr = 1e30;
  m_config.optim.warmup = 0;
  m_config.optim.schedule = Schedule::constant;
  EXPECT_EQ(refused_with([&] { measured({1}, 4); }, Status::non_finite),
            "the loss or the gradient norm is not finite");
}

}  // namespace
}  // namespace spillway::test::rok_points_test
