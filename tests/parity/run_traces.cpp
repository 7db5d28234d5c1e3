// Traces of runs and of plans (docs/trace.md), and that they change no bit of a run.
#include <fstream>
#include <sstream>

#include "plan/listing/listing.hpp"
#include "tests/parity/experiment.hpp"
#include "tests/support/run_program.hpp"
#include "tests/support/trace_rules.hpp"

namespace spillway::test::run_traces_test {
namespace {

std::string text_of(std::filesystem::path const& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::string plan_of(Experiment const& experiment, std::string const& arguments) {
  auto const outcome = run_command(spillway_command(0) + " plan " +
                                   (experiment.directory() / "in.yaml").string() + " " + arguments);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  return outcome.output;
}

// Returns the numbers of the steps that a process shows, in order.
std::vector<int> steps_in(TraceEvents const& events, int process) {
  std::vector<int> steps;
  for (auto const& step : track_in(events, process, kStepTrack))
    steps.push_back(step.at("args").at("step"));
  return steps;
}

auto is_of(int process, int step) {
  return [=](nlohmann::json const& slice) {
    return slice.at("pid") == process && slice.at("args").value("step", 0) == step;
  };
}

// Each item is there once for each time that the step runs it, and called as plan --items calls it.
void expect_items(TraceEvents const& events, Program const& program, int process, int step) {
  EXPECT_EQ(runs_of_items(events, is_of(process, step)), runs_of_step(program)) << process;
  for (auto const& slice : of_phase(events, "X")) {
    if (!is_of(process, step)(slice) || !slice["args"].contains("item")) continue;
    auto const& item = program.items[slice["args"]["item"].get<int>()];
    EXPECT_EQ(slice.at("name"), what(program, item));
    EXPECT_EQ(slice.at("tid").get<int>() / 100, static_cast<int>(item.lane) + 1);
  }
}

void expect_counters(TraceEvents const& events, int process) {
  EXPECT_EQ(most_of(events, process, "device bytes"),
            most_of(events, kPredictedProcess, "device bytes"));
  EXPECT_GT(most_of(events, process, "device bytes"), 0);
}

Keys const kSpills = {"plan.activations=nvme", "batch.micro=2", "run.checkpoint.keep=1",
                      "plan.replan=false"};

std::string keys_text(Keys const& keys) {
  std::string text;
  for (auto const& key : keys) text += "\"" + key + "\" ";
  return text;
}

TEST(RunTrace, shows_every_item_of_a_step_and_changes_no_bit) {
  Experiment const experiment("run_traces", 0, kSpills);
  auto const plain = experiment.run("plain");
  auto const traced = experiment.run("traced", {"run.trace=[2, 3, 6]"});
  expect_equal_steps(plain, traced);
  expect_equal_state(plain, traced);
  expect_measured_as_planned(traced);
  EXPECT_FALSE(std::filesystem::exists(plain.dir / "trace.json"));
  auto const events = trace_in(text_of(traced.dir / "trace.json"));
  expect_trace_rules(events);
  EXPECT_EQ(steps_in(events, kMeasuredProcess), (std::vector<int>{2, 3, 6}));
  auto const program =
      program_from_json(plan_of(experiment, keys_text(kSpills) + "--items --json"), "stdout");
  for (int const step : {2, 3, 6}) expect_items(events, program, kMeasuredProcess, step);
  for (int const step : steps_in(events, kPredictedProcess))
    expect_items(events, program, kPredictedProcess, step);
  EXPECT_FALSE(steps_in(events, kPredictedProcess).empty());
  expect_counters(events, kMeasuredProcess);
  for (auto const& row : traced.rows) {
    auto const at = row.at("step").get<int>();
    for (auto const& step : track_in(events, kMeasuredProcess, kStepTrack))
      if (step["args"]["step"] == at) {
        EXPECT_EQ(step["args"]["step_s"].get<double>(), row.at("step_s").get<double>());
      }
  }
}

TEST(RunTrace, goes_on_in_the_next_job) {
  Experiment const experiment("run_traces_of_jobs", 0, kSpills + Keys{"run.trace=[1, 5]"});
  experiment.run("run", {"run.steps=5", "run.checkpoint.every=2", "run.max_time=none"});
  auto const path = experiment.directory() / "run" / "trace.json";
  auto const first = text_of(path);
  EXPECT_EQ(steps_in(trace_in(first), kMeasuredProcess), (std::vector<int>{1, 5}));
  experiment.run("run", {"run.trace=6"});
  auto const events = trace_in(text_of(path));
  expect_trace_rules(events);
  EXPECT_EQ(steps_in(events, kMeasuredProcess), (std::vector<int>{1, 5, 6}));
}

TEST(RunTrace, is_that_of_rank_0) {
  Experiment const experiment("run_traces_of_ranks", 2, kSpills + Keys{"batch.micro=1"});
  auto const plain = experiment.run("plain");
  auto const traced = experiment.run("traced", {"run.trace=4"});
  expect_equal_steps(plain, traced);
  auto const events = trace_in(text_of(traced.dir / "trace.json"));
  expect_trace_rules(events);
  EXPECT_EQ(steps_in(events, kMeasuredProcess), std::vector<int>{4});
  auto const comm = track_in(events, kMeasuredProcess, 600);
  EXPECT_TRUE(std::ranges::any_of(comm, [](auto const& s) { return s["cat"] == "all_gather"; }));
}

TEST(RunTrace, of_a_step_that_does_not_come_is_refused) {
  Experiment const experiment("run_traces_refused", 0);
  auto const outcome = run_command(spillway_command(0) + " train " +
                                   (experiment.directory() / "in.yaml").string() + " run.trace=7");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.output, "spillway: command line: run.trace: step 7 is none of run.steps = 6\n");
}

class PlanTrace : public testing::Test {
 protected:
  Outcome trace(std::string const& arguments) {
    return run_command(spillway_command(0) + " plan " +
                       (m_experiment.directory() / "in.yaml").string() + " " + keys_text(kSpills) +
                       arguments);
  }

  Experiment const m_experiment{"plan_traces", 0};
  std::filesystem::path const m_file = m_experiment.directory() / "trace.json";
};

TEST_F(PlanTrace, shows_what_items_list) {
  auto const outcome = trace("--items --json --trace " + m_file.string() + " 2>/dev/null");
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  auto const program = program_from_json(outcome.output, "stdout");
  auto const events = trace_in(text_of(m_file));
  expect_trace_rules(events);
  EXPECT_EQ(runs_of_items(events, [](auto const&) { return true; }), runs_of_step(program));
  auto const predicted = nlohmann::json::parse(trace("--json").output).at("predicted");
  EXPECT_EQ(track_in(events, kPredictedProcess, kStepTrack).at(0).at("args").at("step_s"),
            predicted.at("step_s"));
}

TEST_F(PlanTrace, replaces_its_like_and_nothing_else) {
  EXPECT_EQ(trace("--trace " + m_file.string()).status, 0);
  auto const again = trace("--trace " + m_file.string());
  EXPECT_EQ(again.status, 0);
  EXPECT_TRUE(again.output.ends_with("\nwrote " + m_file.string() + "\n")) << again.output;
  auto const run = m_experiment.run("run", {"run.trace=2"});
  auto const record = text_of(run.dir / "trace.json");
  auto const refused = trace("--trace " + (run.dir / "trace.json").string());
  EXPECT_EQ(refused.status, 2) << refused.output;
  EXPECT_EQ(text_of(run.dir / "trace.json"), record);
  EXPECT_EQ(trace("--force --trace " + (run.dir / "trace.json").string()).status, 0);
}

TEST_F(PlanTrace, is_of_one_plan) {
  for (auto const* many : {"--what-if", "--largest model.layers", "--budgets device=1,2GiB"}) {
    auto const outcome = trace(std::string(many) + " --trace " + m_file.string());
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_NE(outcome.output.find("--trace"), std::string::npos) << outcome.output;
    EXPECT_FALSE(std::filesystem::exists(m_file));
  }
}

}  // namespace
}  // namespace spillway::test::run_traces_test
