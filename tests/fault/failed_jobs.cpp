// What a job leaves behind that an error has ended.
#include <nlohmann/json.hpp>
#include <regex>

#include "fault_test.hpp"
#include "preload.hpp"

namespace spillway::test::failed_jobs_test {
namespace {

using Json = nlohmann::json;

class FailedJobs : public FaultTest {
 protected:
  void SetUp() override {
    if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
  }
  // Text that cannot be read any more behind the second step; and a warning.
  Outcome fail() const {
    auto const fault =
        planted({.calls = "pread", .path = "tokens.h5", .what = "EIO", .after = "step 2/1000000"});
    auto const twice = "data.train=[" + path("tokens.h5") + "," + path("tokens.h5") + "] ";
    return run_command(fault + train_command(twice + "run.steps=1000000"));
  }
  Json last_row() const {
    auto text = read("run/metrics.jsonl");
    text.pop_back();
    return Json::parse(text.substr(text.rfind('\n') + 1));
  }
};

TEST_F(FailedJobs, tell_their_end_and_what_they_warned_of) {
  auto const outcome = fail();
  ASSERT_TRUE(fails_with(4, "tokens.h5", outcome));
  auto const end = last_row();
  EXPECT_EQ(end.at("event"), "end");
  EXPECT_EQ(end.at("exit"), 4);
  auto const why = end.at("why").get<std::string>();
  EXPECT_NE(why.find("tokens.h5"), why.npos) << why;
  EXPECT_NE(outcome.output.find("\n1 warning:\n  data.train:"), std::string::npos)
      << outcome.output;
  EXPECT_TRUE(outcome.output.ends_with("spillway: " + why + "\n")) << outcome.output;
  auto const summary = Json::parse(read("run/summary.json"));
  EXPECT_EQ(summary.at("exit"), 4);
  EXPECT_EQ(summary.at("why"), why);
  EXPECT_EQ(summary.at("step"), end.at("step"));
  EXPECT_EQ(summary.at("warnings").size(), 1u);
  EXPECT_GT(summary.at("measured_peak_bytes").at("device"), 0);
  auto const seen = run_command(spillway_command(kAlone) + " inspect " + path("run")).output;
  auto const in_one_line = [](std::string const& text) {  // however lines are broken
    return std::regex_replace(text, std::regex("\\s+"), " ");
  };
  for (auto const& words :
       {std::string("  state        not at work: its last job ended with 4: storage failed\n"),
        "storage failed: " + why + "\n"})
    EXPECT_NE(in_one_line(seen).find(in_one_line(words)), seen.npos) << words << seen;
}

class FailedStarts : public FaultTest {
 protected:
  std::vector<std::string> rows() const { return Outcome{0, read("run/metrics.jsonl")}.lines(); }
};

// Two steps are done, and those of the next job would need more memory than it has.
TEST_F(FailedStarts, are_told_by_a_run_that_exists) {
  ASSERT_EQ(train("run.steps=2").status, 0);
  auto const before = rows().size();
  auto const outcome = train("run.steps=4 memory.device=64KiB");
  ASSERT_EQ(outcome.status, 3) << outcome.output;
  auto const all = rows();
  ASSERT_EQ(all.size(), before + 2);
  auto const began = Json::parse(all[before]), end = Json::parse(all[before + 1]);
  EXPECT_EQ(began.at("event"), "resume");
  EXPECT_EQ(end.at("event"), "end");
  EXPECT_EQ(end.at("exit"), 3);
  for (auto const& row : {began, end}) EXPECT_EQ(row.at("step"), 2);
  auto const why = end.at("why").get<std::string>();
  EXPECT_TRUE(outcome.output.ends_with("spillway: " + why + "\n")) << outcome.output;
  EXPECT_EQ(Json::parse(read("run/summary.json")).at("exit"), 0) << "of the job that trained";
  auto const seen = run_command(spillway_command(kAlone) + " inspect " + path("run")).output;
  EXPECT_NE(seen.find("its last job ended with 3: "), seen.npos) << seen;
  ASSERT_EQ(train("run.steps=4").status, 0);
  EXPECT_EQ(Json::parse(read("run/summary.json")).at("done_again"), 0);
}

TEST_F(FailedStarts, leave_nothing_in_a_run_that_has_not_begun_or_where_the_input_is_wrong) {
  EXPECT_EQ(train("memory.device=64KiB").status, 3);
  EXPECT_FALSE(std::filesystem::exists(path("run/metrics.jsonl")));
  ASSERT_EQ(train("run.steps=2").status, 0);
  auto const before = read("run/metrics.jsonl");
  EXPECT_EQ(train("run.steps=4 model.heads=4").status, 2);
  EXPECT_EQ(train("run.steps=4 memory.device=900TiB").status, 2);
  EXPECT_EQ(train("run.steps=4 memory.device=64KiB run.checkpoint.resume=never").status, 3);
  EXPECT_EQ(read("run/metrics.jsonl"), before);
}

}  // namespace
}  // namespace spillway::test::failed_jobs_test
