// What batch systems say about the end of a job.
#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>

#include "job/scheduler.hpp"
#include "job/scheduler_answers.hpp"
#include "train/save_time.hpp"

namespace spillway::train_scheduler_test {
namespace {

constexpr double kNow = 1'795'422'730;
constexpr int kLong_s = 600;  // only who hangs takes so long

TEST(SlurmEnd, is_a_number_of_seconds_or_nothing) {
  EXPECT_EQ(parse_slurm_end("1795422790          \n"), 1'795'422'790);
  for (auto const* none : {"", "\n", "NONE  \n", "N/A\n", "Unknown", "2026-11-23T08:33:10\n",
                           "1795422790 1795422790\n", "-5", "squeue: error: Invalid job id\n"})
    EXPECT_FALSE(parse_slurm_end(none)) << none;
}

double local_time(int hour, int minute, int second) {
  std::tm date{};
  date.tm_year = 126, date.tm_mon = 10, date.tm_mday = 3;
  date.tm_hour = hour, date.tm_min = minute, date.tm_sec = second;
  date.tm_isdst = -1;
  return static_cast<double>(std::mktime(&date));
}

TEST(PbsEnd, is_start_and_limit) {
  EXPECT_EQ(parse_pbs_end("Job Id: 12.head\n"
                          "    Job_Name = gpt\n"
                          "    resources_used.walltime = 00:01:00\n"
                          "    Resource_List.walltime = 04:00:00\n"
                          "    stime = Tue Nov  3 08:33:10 2026\n",
                          kNow),
            local_time(12, 33, 10));
}

TEST(PbsEnd, is_what_is_left_where_no_start_is_told) {
  std::string const limit = "    Resource_List.walltime = 04:00:00\n";
  EXPECT_EQ(parse_pbs_end(limit, kNow), kNow + 4 * 3600);
  EXPECT_EQ(parse_pbs_end(limit + "    resources_used.walltime = 01:00:30\n", kNow),
            kNow + 3 * 3600 - 30);
  EXPECT_EQ(parse_pbs_end(limit + "    Walltime.Remaining = 3571\n", kNow), kNow + 3571);
}

TEST(PbsEnd, is_by_the_first_that_tells_it_and_no_start_that_is_no_date) {
  std::string const limit = "    Resource_List.walltime = 04:00:00\n",
                    used = "    resources_used.walltime = 01:00:00\n",
                    left = "    Walltime.Remaining = 3571\n",
                    start = "    stime = Tue Nov  3 08:33:10 2026\n";
  EXPECT_EQ(parse_pbs_end(used + left + limit, kNow), kNow + 3571);
  EXPECT_EQ(parse_pbs_end(used + left + start + limit, kNow), local_time(12, 33, 10));
  for (auto const* none : {"soon", "Tue Nov  3 08:33:10 2026 or so", "Tue Nov  3 08:33"})
    EXPECT_EQ(parse_pbs_end(limit + "    stime = " + none + "\n", kNow), kNow + 4 * 3600) << none;
}

// Two hours from UTC in July and one in November.
TEST(PbsEnd, is_of_a_start_in_summer_time_where_that_has_it) {
  std::string const before = std::getenv("TZ") == nullptr ? "" : std::getenv("TZ");
  setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
  ::tzset();
  auto const end = [](std::string const& start) {
    return parse_pbs_end("Resource_List.walltime = 10\nstime = " + start, kNow);
  };
  EXPECT_EQ(end("Tue Jul  7 08:33:10 2026"), 1'783'406'000);
  EXPECT_EQ(end("Tue Nov  3 08:33:10 2026"), 1'793'691'200);
  before.empty() ? unsetenv("TZ") : setenv("TZ", before.c_str(), 1);
  ::tzset();
}

TEST(PbsEnd, knows_all_ways_to_write_a_limit) {
  auto const limit = [](std::string const& text) {
    return parse_pbs_end(" Resource_List.walltime = " + text, 0);
  };
  EXPECT_EQ(limit("90"), 90);
  EXPECT_EQ(limit("10:30"), 630);
  EXPECT_EQ(limit("100:00:00"), 360'000);
  EXPECT_EQ(limit("2:01:00:00"), 49 * 3600);
  for (auto const* none : {"", "UNLIMITED", "1:2:3:4:5", "1::2", ":", "-1"})
    EXPECT_FALSE(limit(none)) << none;
  EXPECT_FALSE(parse_pbs_end("    stime = Tue Nov  3 08:33:10 2026\n", 0));
}

// Programs of its own in place of the scheduler's.
class AskScheduler : public ::testing::Test {
 protected:
  AskScheduler() {
    std::filesystem::create_directories(m_dir);
    setenv("PATH", (m_dir.string() + ":" + m_path).c_str(), 1);
    for (auto const* name : {"SLURM_JOB_ID", "SLURM_JOB_END_TIME", "PBS_JOBID", "PBS_WALLTIME"})
      unsetenv(name);
  }
  ~AskScheduler() override {
    setenv("PATH", m_path.c_str(), 1);
    std::filesystem::remove_all(m_dir);
  }

  void program(std::string const& name, std::string const& script) {
    std::ofstream(m_dir / name) << "#!/bin/sh\n" << script << "\n";
    std::filesystem::permissions(m_dir / name, std::filesystem::perms::owner_all);
  }

  std::string const m_path = std::getenv("PATH");
  std::filesystem::path const m_dir = std::filesystem::path(::testing::TempDir()) / "ask_scheduler";
};

TEST_F(AskScheduler, finds_none_outside_a_job) {
  auto const end = ask_scheduler(kNow, kLong_s);
  EXPECT_FALSE(end.at_s);
  EXPECT_FALSE(end.failed);
}

TEST_F(AskScheduler, asks_squeue_for_seconds_where_slurm_has_not_said) {
  program("squeue",
          R"([ "$*" = "-h -j 17 -O EndTime" ] && date -u -d @1795422790 "+$SLURM_TIME_FORMAT")");
  setenv("SLURM_JOB_ID", "17", 1);
  EXPECT_EQ(ask_scheduler(kNow, kLong_s).at_s, 1'795'422'790);
  setenv("SLURM_JOB_END_TIME", "1795422800", 1);
  EXPECT_EQ(ask_scheduler(kNow, kLong_s).at_s, 1'795'422'800);
  setenv("SLURM_JOB_END_TIME", "1795000000", 1);  // of a job that is over
  EXPECT_EQ(ask_scheduler(kNow, kLong_s).at_s, 1'795'422'790);
}

TEST_F(AskScheduler, does_not_wait_for_who_does_not_answer) {
  setenv("SLURM_JOB_ID", "17", 1);
  program("squeue", "trap '' TERM; sleep 1000");
  EXPECT_TRUE(ask_scheduler(kNow, 1).failed);
  program("squeue", "echo 1795422790; exit 1");
  EXPECT_TRUE(ask_scheduler(kNow, kLong_s).failed);
}

TEST_F(AskScheduler, takes_what_pbs_says) {
  setenv("PBS_JOBID", "12[3].head", 1);
  program("qstat", R"([ "$*" = "-f 12[3].head" ] && echo "    Resource_List.walltime = 00:10:00")");
  EXPECT_EQ(ask_scheduler(kNow, kLong_s).at_s, kNow + 600);
  program("qstat", "exit 1");
  EXPECT_TRUE(ask_scheduler(kNow, kLong_s).failed);
  setenv("PBS_WALLTIME", "300", 1);
  EXPECT_EQ(ask_scheduler(kNow, kLong_s).at_s, kNow + 300);
}

TEST_F(AskScheduler, runs_nothing_that_a_job_id_may_contain) {
  setenv("PBS_JOBID", "1'; touch made; '", 1);
  EXPECT_FALSE(ask_scheduler(kNow, kLong_s).failed);
  EXPECT_FALSE(std::filesystem::exists("made"));
}

TEST(SaveTime, is_the_estimate_until_one_has_been_written_and_then_the_longest) {
  SaveTime time(100);
  EXPECT_EQ(time.expected_s(), 100);
  time.add(3);
  EXPECT_EQ(time.expected_s(), 3);
  time.add(5);
  time.add(4);
  EXPECT_EQ(time.expected_s(), 5);
  EXPECT_EQ(time.total_s(), 12);
}

// What failed soon says nothing of how long a checkpoint takes, what failed late that one may.
TEST(SaveTime, counts_those_that_have_failed) {
  SaveTime time(100);
  time.add_failed(1);
  EXPECT_EQ(time.expected_s(), 100);
  time.add(3);
  EXPECT_EQ(time.expected_s(), 3);
  time.add_failed(600);
  EXPECT_EQ(time.expected_s(), 600);
  EXPECT_EQ(time.total_s(), 604) << "no turn has taken them";
}

}  // namespace
}  // namespace spillway::train_scheduler_test
