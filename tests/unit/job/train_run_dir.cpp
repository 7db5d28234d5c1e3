// The directory of a run, as one job finds it and leaves it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "job/run_dir.hpp"
#include "tests/support/names_in.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::train_run_dir_test {
namespace {

namespace fs = std::filesystem;

class RunDirectories : public ::testing::Test {
 protected:
  RunDirectories() { fs::remove_all(m_dir); }
  ~RunDirectories() override { fs::remove_all(m_dir); }

  void put(std::string const& name, std::string const& text) const {
    std::ofstream(m_dir / name) << text;
  }
  std::string text(std::string const& name) const {
    std::ostringstream text;
    text << std::ifstream(m_dir / name).rdbuf();
    return text.str();
  }
  fs::path const m_dir = fs::path(::testing::TempDir()) / "spillway-run-directory";
};

// Of the texts that runs replace; what somebody else calls so is left alone.
TEST_F(RunDirectories, lose_the_unfinished_texts_of_killed_jobs_and_nothing_else) {
  fs::create_directories(m_dir);
  for (auto const* name : {"config.yaml", "config-12.yaml", "environment.json", "plan.json",
                           "plan.txt", "plan.yaml", "plan-7.yaml", "summary.json"}) {
    put(name, "whole");
    put(std::string(name) + ".partial", "half");
  }
  for (auto const* name : {"metrics.jsonl.partial", "plan-x.yaml.partial", "notes.partial",
                           "plan.yaml.partial.old", "plan.yaml.part"})
    put(name, "of the user");
  RunDir const dir(m_dir);
  EXPECT_EQ(test::names_in(m_dir),
            (std::vector<std::string>{"config-12.yaml", "config.yaml", "environment.json", "lock",
                                      "metrics.jsonl.partial", "notes.partial", "plan-7.yaml",
                                      "plan-x.yaml.partial", "plan.json", "plan.txt", "plan.yaml",
                                      "plan.yaml.part", "plan.yaml.partial.old", "summary.json"}));
}

TEST_F(RunDirectories, are_made_and_name_who_runs_there) {
  auto const below = m_dir / "a/b";
  fs::create_directories(below);
  put("a/b/lock", "12345678901234567890\n");
  RunDir dir(below);
  EXPECT_EQ(dir.path(), below);
  EXPECT_EQ(text("a/b/lock"), std::to_string(::getpid()) + "\n") << "and nothing of who was there";
  dir.require_ours();
  dir.require_ours_now();
  dir.write("plan.txt", "first, and longer");
  dir.write("plan.txt", "second");
  EXPECT_EQ(text("a/b/plan.txt"), "second");
  EXPECT_EQ(test::names_in(below), (std::vector<std::string>{"lock", "plan.txt"}));
}

TEST_F(RunDirectories, of_jobs_that_wrote_nothing_are_as_if_they_had_not_been) {
  { RunDir const dir(m_dir / "a/b/"); }
  EXPECT_FALSE(fs::exists(m_dir));
  fs::create_directories(m_dir);
  { RunDir const dir(m_dir / "a"); }
  EXPECT_EQ(test::names_in(m_dir), std::vector<std::string>{});
  put("lock", "");
  { RunDir const dir(m_dir); }
  EXPECT_EQ(test::names_in(m_dir), std::vector<std::string>{"lock"}) << "somebody else's";
  fs::remove(m_dir / "lock");
  {
    RunDir dir(m_dir);
    auto const moved = std::move(dir);
    moved.write("plan.txt", "a plan");
  }
  EXPECT_EQ(test::names_in(m_dir), (std::vector<std::string>{"lock", "plan.txt"}));
}

TEST_F(RunDirectories, belong_to_one_job_at_a_time) {
  auto const held = [&] { return test::refused_with([&] { RunDir const other(m_dir); }); };
  {
    RunDir const dir(m_dir);
    EXPECT_EQ(held(), "run.dir: " + m_dir.string() +
                          ": another job is running in it (it holds `lock`); give this run its own "
                          "run.dir");
  }
  EXPECT_EQ(held(), "");
}

TEST_F(RunDirectories, whose_lock_was_removed_hold_it_anew_or_are_left_to_who_took_it) {
  RunDir dir(m_dir);
  fs::remove(m_dir / "lock");
  dir.require_ours_now();
  EXPECT_EQ(text("lock"), std::to_string(::getpid()) + "\n");
  fs::remove(m_dir / "lock");
  RunDir const other(m_dir);
  dir.require_ours();
  EXPECT_EQ(test::refused_with([&] { dir.require_ours_now(); }),
            "run.dir: " + m_dir.string() +
                ": another job has taken it over, for `lock` was removed; this one ends, and "
                "leaves everything to the other");
}

TEST_F(RunDirectories, whose_lock_is_a_link_or_no_file_are_refused) {
  fs::create_directories(m_dir);
  auto const held = [&] { return test::refused_with([&] { RunDir const dir(m_dir); }); };
  auto const refusal = "run.dir: " + m_dir.string() + ": cannot be written: ";
  put("mine", "kept");
  fs::create_symlink("mine", m_dir / "lock");
  EXPECT_EQ(held(), refusal + "Too many levels of symbolic links");
  EXPECT_EQ(text("mine"), "kept");
  fs::remove(m_dir / "lock");
  fs::create_directory(m_dir / "lock");
  EXPECT_EQ(held(), refusal + "Is a directory");
}

// What stands in the lock's place says itself what is wrong, at the next checkpoint.
TEST_F(RunDirectories, whose_lock_cannot_be_made_anew_now_are_kept_until_it_can) {
  RunDir dir(m_dir);
  fs::remove(m_dir / "lock");
  fs::create_directory(m_dir / "lock");
  dir.require_ours_now();
  EXPECT_TRUE(fs::is_directory(m_dir / "lock"));
  fs::remove(m_dir / "lock");
  dir.require_ours_now();
  EXPECT_EQ(text("lock"), std::to_string(::getpid()) + "\n");
  EXPECT_NE(test::refused_with([&] { RunDir const other(m_dir); }), "") << "it is held";
}

TEST_F(RunDirectories, have_a_place_where_the_nearest_directory_can_be_written) {
  fs::create_directories(m_dir);
  require_run_place(m_dir);
  require_run_place(m_dir / "a/b/c");
  EXPECT_EQ(test::names_in(m_dir), std::vector<std::string>{}) << "nothing is made";
  put("file", "");
  EXPECT_EQ(test::refused_with([&] { require_run_place(m_dir / "file/run"); }),
            "run.dir: " + (m_dir / "file/run").string() + ": cannot be created: Not a directory");
  EXPECT_EQ(test::refused_with([&] { require_run_place(m_dir / "file"); }),
            "run.dir: " + (m_dir / "file").string() + ": cannot be written: Not a directory");
}

}  // namespace
}  // namespace spillway::train_run_dir_test
