// Directories of runs, made up by hand, in words.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>

#include <array>
#include <chrono>
#include <fstream>
#include <initializer_list>
#include <optional>
#include <span>
#include <thread>

#include "config/print.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/shard_writer.hpp"
#include "job/run_dir.hpp"
#include "monitor/run_directory.hpp"
#include "monitor/run_follower.hpp"
#include "monitor/run_text.hpp"
#include "report/metrics.hpp"
#include "tests/support/in_directory.hpp"
#include "tests/support/refused_with.hpp"

namespace spillway::test::run_records_test {
namespace {

namespace fs = std::filesystem;

class RunRecords : public InDirectory {
 protected:
  RunRecords() {
    Config config;
    config.model.layers = 2;
    config.model.hidden = 64;
    config.model.heads = 2;
    config.model.vocab = 256;
    config.data.sequence = 32;
    config.data.train = {"tokens.h5", "more.h5"};
    config.data.weights = {3, 1};
    config.data.valid = {"valid.h5"};
    config.run.dir = m_dir.string();
    config.run.steps = 40;
    config.memory.device_bytes = 1 << 30;
    write("config.yaml", to_yaml(config));
    write("plan.txt", "Fits with 696 MiB to spare; nothing leaves the device.\n\nmore\n");
    write("environment.json", R"({"hosts": ["node3", "node4"]})");
    write("lock", "4242\n");
  }

  void write(std::string const& name, std::string const& text) const {
    std::ofstream(m_dir / name) << text;
  }
  void add_row(std::string const& row) const {
    std::ofstream(m_dir / "metrics.jsonl", std::ios::app) << row << "\n";
  }
  void add_step(std::int64_t step, double loss, std::optional<double> valid = {}) const {
    StepMetrics row;
    row.step = step;
    row.tokens = 10 * step;
    row.loss = {loss, 1};
    row.step_s = 0.5;
    row.tokens_per_s = 20;
    row.peak_bytes[Tier::device] = 3 << 20;
    if (valid) row.valid = LossSums{*valid, 1};
    add_row(to_json(row));
  }
  void add_event(std::string const& name, std::int64_t step, std::optional<int> exit = {}) const {
    RunEvent event{name, step};
    event.exit = exit;
    if (name == "start" || name == "resume") event.predicted_step_s = 0.25;
    add_row(to_json(event, 1'000'000'000 + step));
  }
  void add_checkpoint(std::int64_t step) const {
    auto const directory = m_dir / ("step-" + std::to_string(step));
    fs::create_directory(directory);
    auto const layout = spread_evenly({{"model", "wte.weight", {3, 2}}}, 1);
    ShardWriter writer(directory, 0, layout);
    std::array<float, 6> const values{};
    writer.write("model", "wte.weight", 0, std::as_bytes(std::span(values)));
    writer.close();
    write_manifest(directory, layout, {{"step", std::to_string(step)}});
    write("latest", directory.filename().string() + "\n");
  }
  std::string text() const { return describe_run(read_run(m_dir)); }
  void expect(std::initializer_list<char const*> all) const {
    auto const said = text();
    for (auto const* words : all) EXPECT_NE(said.find(words), said.npos) << words << "in\n" << said;
  }
};

TEST_F(RunRecords, say_what_a_run_is_and_how_far_it_has_come) {
  add_event("start", 0);
  add_step(1, 4, 5.5);
  add_step(2, 3, 4.5);
  add_step(3, 3.5);
  add_checkpoint(1);
  add_checkpoint(2);
  add_event("end", 3, 75);
  write("summary.json",
        R"({"exit": 75, "parameters": 77, "predicted_step_s": 0.25, "measured_step_s": 0.5,
    "predicted_peak_bytes": {"device": 4194304}, "measured_peak_bytes": {"device": 3145728}})");
  expect({"  state        not at work: its last job ended with 75: stopped as asked\n",
          "  model        gpt, 2 layers of 64, 2 heads; 77 parameters; bf16\n",
          "  data         75 % tokens.h5, 25 % more.h5; valid: valid.h5\n",
          "  step         3 of 40 (8 %), 30 tokens\n",
          "  loss         3.5000 at step 3; least 3.0000 at step 2\n",
          "  valid        4.5000 at step 2, the least\n",
          "  speed        500 ms a step, 20 tokens/s; predicted 250 ms a step\n",
          "  plan         Fits with 696 MiB to spare; nothing leaves the device.\n",
          "  peaks        device memory 3 MiB (planned 4 MiB)\n", "  jobs         1\n",
          "    2001-09-09T01:46:40Z  start at step 0\n"
          "    2001-09-09T01:46:43Z  end at step 3 with 75: stopped as asked\n",
          "  checkpoints  2\n", "    step-2          ", ", the newest: a job goes on from it\n",
          "    step-1          ",
          "  warning      the last job ended with 75, stopped as asked: the same command\n"
          "               goes on from the newest checkpoint\n"});
}

TEST_F(RunRecords, know_the_least_loss_of_logged_steps_and_of_all_evaluations) {
  add_event("start", 0);
  add_step(2, 3, 5);
  add_step(4, 3.5, 5.5);
  expect({"  loss         3.5000 at step 4; least of logged steps 3.0000 at step 2\n",
          "  valid        5.5000 at step 4; least 5.0000 at step 2\n"});
  add_step(6, 2.5);
  expect({"  loss         2.5000 at step 6, the least of logged steps\n"});
}

TEST_F(RunRecords, name_a_rank_that_is_slow_now) {
  RunDir const held(m_dir);
  add_event("start", 0);
  add_step(9, 4);
  auto const why = "rank 1 (host node4): the others wait 250 ms of each 500 ms step for it";
  add_row(to_json(RunEvent{"slow-rank", 9, {{"why", why}}}, 0));
  expect(
      {"  slow         rank 1 (host node4): the others wait 250 ms of each 500 ms step\n"
       "               for it, since step 9\n"});
  add_event("slow-rank-over", 12);
  EXPECT_EQ(text().find("  slow "), std::string::npos);
}

// Of four steps the third one was not logged, nor was the fourth, at which the job ended.
TEST_F(RunRecords, say_the_tokens_of_the_last_step_or_by_which_step_they_are_known) {
  add_event("start", 0);
  add_step(2, 4);
  add_event("end", 4, 75);
  expect({"  step         4 of 40 (10 %), 20 tokens by step 2\n"});
  write("summary.json", R"({"exit": 75, "step": 4, "tokens": 40})");
  expect({"  step         4 of 40 (10 %), 40 tokens\n"});
  add_event("resume", 3);
  expect({"  step         3 of 40 (8 %), 20 tokens by step 2\n"});
}

TEST_F(RunRecords, know_a_job_at_work_and_one_that_was_killed) {
  add_event("start", 0);
  add_step(1, 4);
  expect({"  state        not at work: its last job told no end",
          "; step 1 was logged last, told no end\n"});
  RunDir const held(m_dir);
  expect({"  state        at work: pid ", " on node3\n", "was logged last, goes on\n",
          "  left         19.5 s\n"});
}

TEST_F(RunRecords, stand_what_is_missing_or_spoilt) {
  expect({"not at work, and no job has begun to train\n", "  step         0 of 40 (0 %)\n",
          "  checkpoints  none\n"});
  for (auto const* name : {"config.yaml", "plan.txt", "environment.json", "summary.json"})
    write(name, "{\x1b spoilt");
  write("metrics.jsonl", "{\n\n{\"step\":1}\nnot the end of a row");
  fs::create_directory(m_dir / "step-7");
  expect({"  step         1\n", "  warning      summary.json is damaged, and left out.\n",
          "  warning      One line of metrics.jsonl cannot be read, and is left out.\n",
          "    step-7          "});
}

TEST_F(RunRecords, are_of_directories_of_runs_alone) {
  EXPECT_TRUE(is_run_directory(m_dir));
  add_checkpoint(3);
  EXPECT_FALSE(is_run_directory(m_dir / "step-3"));
  EXPECT_FALSE(is_run_directory(m_dir / "none"));
  EXPECT_FALSE(is_run_directory(m_dir / "lock"));
  fs::create_directory(m_dir / "empty");
  EXPECT_FALSE(is_run_directory(m_dir / "empty"));
}

std::string refusal(fs::path const& path) {
  return refused_with([&] { require_run_directory(path); });
}

TEST_F(RunRecords, say_what_a_directory_is_instead) {
  require_run_directory(m_dir);
  add_checkpoint(3);
  auto const is_none = ": is no directory of a run, ";
  auto const step = (m_dir / "step-3").string();
  EXPECT_EQ(refusal(step), step + is_none + "but a checkpoint; its run may be " + m_dir.string());
  auto const above = m_dir.parent_path();
  EXPECT_NE(refusal(above).find("but runs lie in it: name one, such as "), std::string::npos);
  EXPECT_EQ(refusal(m_dir / "none"), (m_dir / "none").string() + ": is not there");
  EXPECT_EQ(refusal(m_dir / "lock"),
            (m_dir / "lock").string() + ": is no directory: name that of a run");
  fs::create_directory(m_dir / "empty");
  EXPECT_EQ(refusal(m_dir / "empty"), (m_dir / "empty").string() + is_none +
                                          "which would have config.yaml, metrics.jsonl or lock");
}

TEST_F(RunRecords, are_found_by_the_files_in_them) {
  write("summary.json", "{}");
  EXPECT_EQ(run_of_file(m_dir / "summary.json"), m_dir);
  EXPECT_FALSE(run_of_file(m_dir / "plan.yaml")) << "a plan is described for itself";
  fs::create_directory(m_dir / "empty");
  EXPECT_FALSE(run_of_file(m_dir / "empty" / "summary.json"));
}

TEST_F(RunRecords, say_plainly_that_there_is_nothing_but_a_lock) {
  for (auto const* name : {"config.yaml", "plan.txt", "environment.json"}) fs::remove(m_dir / name);
  auto const begin = "run " + m_dir.string() + "\n  state        ";
  EXPECT_EQ(text(),
            begin +
                "not at work, and no job has begun to train\n"
                "  holds        nothing but `lock`: a job ended here before it had a plan, and\n"
                "               its log says why\n");
  RunDir const held(m_dir);
  EXPECT_EQ(text(), begin + "at work: " + at_work(m_dir).who +
                        "\n  holds        nothing but `lock`: a job reads its data, measures or "
                        "plans\n");
}

// The job that went on was killed, and has told neither peaks nor what a step took.
TEST_F(RunRecords, have_nothing_of_a_summary_that_an_earlier_job_has_left) {
  write("plan.json", R"({"parameters": 77})");
  write("summary.json", R"({"ended": "2001-09-09T01:46:42Z", "measured_step_s": 9,
    "predicted_peak_bytes": {"device": 4194304}})");
  add_event("start", 0);
  add_step(1, 4);
  expect({"  speed        9 s a step", "(planned 4 MiB)"});
  add_event("resume", 1);
  expect({"  speed        9 s a step"});
  write("summary.json", R"({"ended": "2001-09-09T01:46:41Z", "measured_step_s": 9,
    "predicted_peak_bytes": {"device": 4194304}})");
  // As early as the job began that has told no end.
  EXPECT_EQ(text().find("9 s a step"), std::string::npos) << text();
  EXPECT_EQ(text().find("planned"), std::string::npos) << text();
  expect({"; 77 parameters; bf16\n", "  step         1 of 40 (2 %)"});
}

TEST_F(RunRecords, follow_a_run_that_goes_on_and_one_that_takes_its_place) {
  RunFollower run(m_dir);
  run.look();
  EXPECT_FALSE(run.run().history.last());
  add_event("start", 0);
  add_step(1, 4);
  run.look();
  EXPECT_EQ(run.run().history.last()->step, 1);
  EXPECT_EQ(run.run().history.losses().size(), 1u);
  fs::remove(m_dir / "metrics.jsonl");
  run.look();
  EXPECT_FALSE(run.run().history.last());
  add_event("start", 0);
  add_step(2, 4);
  run.look();
  EXPECT_EQ(run.run().history.last()->step, 2);
  EXPECT_TRUE(run.run().config);
}

// Whoever looks holds the lock for a moment; a job that begins then waits, and is not refused.
TEST_F(RunRecords, refuse_no_job_that_begins_while_somebody_looks) {
  FileDescriptor looks(::open((m_dir / "lock").c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(looks.get(), LOCK_SH), 0);
  std::thread job([this] { EXPECT_NO_THROW(RunDir const taken(m_dir)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  looks.reset();
  job.join();
}

}  // namespace
}  // namespace spillway::test::run_records_test
