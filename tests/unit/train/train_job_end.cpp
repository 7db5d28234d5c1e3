// What run.max_time: auto makes of the end of a job, and says of it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "job/scheduler.hpp"
#include "tests/support/captured_log.hpp"
#include "tests/support/two_ranks.hpp"

namespace spillway::train_job_end_test {
namespace {

constexpr double kNow = 1'795'422'730;
constexpr int kLong_s = 600;  // only who hangs takes so long
constexpr char const* kVariables[] = {"SLURM_JOB_ID",        "SLURM_ARRAY_JOB_ID",
                                      "SLURM_ARRAY_TASK_ID", "SLURM_JOB_END_TIME",
                                      "PBS_JOBID",           "PBS_WALLTIME"};

// Programs of its own in place of the scheduler's.
class JobEnds : public ::testing::Test {
 protected:
  JobEnds() {
    std::filesystem::create_directories(m_dir);
    setenv("PATH", (m_dir.string() + ":" + m_path).c_str(), 1);
    for (auto const* name : kVariables) unsetenv(name);
  }
  ~JobEnds() override {
    for (auto const* name : kVariables) unsetenv(name);
    setenv("PATH", m_path.c_str(), 1);
    std::filesystem::remove_all(m_dir);
  }

  void program(std::string const& name, std::string const& script) {
    std::ofstream(m_dir / name) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(m_dir / name, std::filesystem::perms::owner_all);
  }
  void expect(std::optional<double> at_s, std::string const& said, bool failed = false) {
    auto const end = ask_scheduler(kNow, kLong_s);
    EXPECT_EQ(end.at_s, at_s);
    EXPECT_EQ(end.said, said);
    EXPECT_EQ(end.failed, failed) << said;
  }
  // Of a run that began so long ago.
  std::optional<double> limit_s(std::optional<double> max_time_s, double ago_s = 0) {
    RunConfig run;
    run.max_time_s = max_time_s;
    std::chrono::duration<double> const ago(ago_s);
    auto const begin = SteadyClock::now() - std::chrono::duration_cast<SteadyClock::duration>(ago);
    return time_limit_s(run, begin, *m_comm);
  }
  std::string said() { return m_log.taken(); }

  test::CapturedLog m_log;
  std::string const m_path = std::getenv("PATH");
  std::filesystem::path const m_dir = std::filesystem::path(::testing::TempDir()) / "job_ends";
  std::unique_ptr<Comm> m_comm = make_single_rank_comm();
};

TEST_F(JobEnds, are_told_by_who_knows_them) {
  expect({}, "this is no job of Slurm or PBS");
  setenv("PBS_JOBID", "12.head", 1);
  program("qstat", "exit 1");
  expect({}, "qstat does not tell when this job ends", true);
  setenv("PBS_WALLTIME", "01:00:07", 1);
  expect(kNow + 3607, "PBS_WALLTIME");
  program("qstat", "echo Job Id: 12.head");
  expect({}, "qstat names no walltime of this job");
  program("qstat", "echo '    Resource_List.walltime = 00:10:00'");
  expect(kNow + 600, "qstat");
  setenv("SLURM_JOB_ID", "17", 1);  // comes first
  program("squeue", "exit 1");
  expect({}, "squeue does not tell when this job ends", true);
  program("squeue", "echo NONE");
  expect({}, "squeue names no end of this job");
  program("squeue", "echo 1795422790");
  expect(1'795'422'790, "squeue");
  setenv("SLURM_JOB_END_TIME", "1795422731", 1);
  expect(1'795'422'731, "Slurm");
  setenv("SLURM_JOB_END_TIME", "1795422730", 1);  // is over
  expect(1'795'422'790, "squeue");
}

TEST_F(JobEnds, of_a_task_of_an_array_are_asked_for_by_its_own_name) {
  program("squeue", "case $3 in 40_3) echo 1795422790;; 43) echo 1795422780;; *) exit 1;; esac");
  setenv("SLURM_JOB_ID", "43", 1);
  setenv("SLURM_ARRAY_JOB_ID", "40", 1);
  expect(1'795'422'780, "squeue");
  setenv("SLURM_ARRAY_TASK_ID", "3", 1);
  expect(1'795'422'790, "squeue");
}

// Of the clock whole seconds are asked, at two times.
TEST_F(JobEnds, end_the_run_half_a_minute_before) {
  auto const end_s = std::time(nullptr) + 10 * 86'400 + 12 * 3600 + 1800;
  setenv("SLURM_JOB_ID", "17", 1);
  setenv("SLURM_JOB_END_TIME", fmt::format("{}", end_s).c_str(), 1);
  auto const limit = limit_s(0, 5000);
  ASSERT_TRUE(limit);
  EXPECT_NEAR(*limit, 5000 + 10 * 86'400 + 12 * 3600 + 1800 - 30, 15);
  EXPECT_EQ(said(),
            "info: run.max_time: auto: Slurm says that this job ends in 10d12h; the run ends 30 s "
            "earlier\n");
}

TEST_F(JobEnds, that_have_passed_leave_no_time) {
  setenv("SLURM_JOB_ID", "17", 1);
  program("squeue", fmt::format("echo {}", std::time(nullptr) - 1000));
  auto const limit = limit_s(0);
  ASSERT_TRUE(limit);
  EXPECT_LT(*limit, 0);
  EXPECT_EQ(said(),
            "info: run.max_time: auto: squeue says that this job ends in 0 s; the run ends 30 s "
            "earlier\n");
}

// A day more or less tells whose word it is.
TEST_F(JobEnds, are_asked_for_by_the_first_rank_alone) {
  auto const ten_days = std::time(nullptr) + 10 * 86'400;
  setenv("SLURM_JOB_ID", "17", 1);
  setenv("SLURM_JOB_END_TIME", fmt::format("{}", ten_days).c_str(), 1);
  double other_says = 1000;
  auto const with_other = [&](int rank) {
    m_comm = std::make_unique<test::TwoRanks>(
        rank, test::TwoRanks::On::two_nodes, [&](std::span<std::byte> said) {
          test::change<double>(said, [&](double) { return other_says; });
        });
    return limit_s(0);
  };
  EXPECT_GT(with_other(0), 9 * 86'400.0);
  EXPECT_NE(said(), "");
  auto const of_second = with_other(1);
  EXPECT_GE(of_second, 970.0);
  EXPECT_LT(of_second, 86'400.0);
  other_says = std::numeric_limits<double>::infinity();
  EXPECT_EQ(with_other(1), std::nullopt);
  EXPECT_EQ(said(), "");
}

TEST_F(JobEnds, that_nobody_tells_leave_the_run_without_a_limit) {
  EXPECT_EQ(limit_s(0), std::nullopt);
  EXPECT_EQ(said(), "info: run.max_time: auto: this is no job of Slurm or PBS: none\n");
  setenv("SLURM_JOB_ID", "17", 1);
  program("squeue", "exit 1");
  EXPECT_EQ(limit_s(0), std::nullopt);
  EXPECT_EQ(said(),
            "warning: run.max_time: auto: squeue does not tell when this job ends; this run has no "
            "limit: give run.max_time\n");
}

TEST_F(JobEnds, are_not_asked_for_where_the_user_says_how_long_it_may_take) {
  EXPECT_EQ(limit_s(90, 5000), 90);
  EXPECT_EQ(limit_s(std::nullopt), std::nullopt);
  EXPECT_EQ(said(), "");
}

}  // namespace
}  // namespace spillway::train_job_end_test
