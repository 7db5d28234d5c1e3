// What a run leaves in its directory: people's scripts read these names.
#include <algorithm>
#include <fstream>

#include "tests/parity/experiment.hpp"
#include "tests/support/names_in.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::run_files_test {
namespace {

using Names = std::vector<std::string>;

Names keys_of(nlohmann::json const& object) {
  Names names;
  for (auto const& item : object.items()) names.push_back(item.key());
  return names;
}

void expect_keys(nlohmann::json const& object, Names const& names) {
  for (auto const& name : names) EXPECT_TRUE(object.contains(name)) << name;
}

void expect_files(Run const& run) {
  EXPECT_EQ(names_in(run.dir),
            (Names{"config.yaml", "environment.json", "latest", "lock", "metrics.jsonl",
                   "plan.json", "plan.txt", "plan.yaml", "step-6", "summary.json"}));
  EXPECT_EQ(names_in(run.dir / "step-6"),
            (Names{"checkpoint.h5", "seal", "shard-0.h5", "shard-1.h5"}));
  for (auto const* name : {"config.yaml", "environment.json", "latest", "plan.txt", "plan.yaml"}) {
    EXPECT_GT(std::filesystem::file_size(run.dir / name), 0u) << name;
  }
}

void expect_promised_keys(Run const& run) {
  ASSERT_EQ(run.rows.size(), 6u);
  expect_keys(run.rows[0],
              {"step", "tokens", "loss", "grad_norm", "lr", "step_s", "tokens_per_s", "mfu",
               "matmul_share", "matmul_gflops", "loss_hex", "grad_norm_hex", "peak_bytes",
               "spilled_bytes", "reloaded_bytes", "stall_s", "stall_by", "lanes"});
  expect_keys(run.summary, {"predicted_peak_bytes",
                            "measured_peak_bytes",
                            "outside_bytes",
                            "peak_rss_bytes",
                            "predicted_step_s",
                            "measured_step_s",
                            "ops",
                            "spill",
                            "exit",
                            "step",
                            "loss",
                            "best_loss",
                            "best_loss_step",
                            "valid_loss",
                            "best_valid_loss",
                            "best_valid_step",
                            "tokens",
                            "parameters",
                            "trainable_parameters",
                            "started",
                            "ended",
                            "duration_s",
                            "restart_s",
                            "done_again",
                            "done_again_s",
                            "evaluations",
                            "evaluations_s",
                            "saves",
                            "saves_s",
                            "times",
                            "warnings"});
  expect_keys(run.summary.at("spill"), {"backend", "written_bytes", "read_bytes", "write_gbps",
                                        "read_gbps", "lifetime_years", "used_lifetime_years"});
  for (auto const* which : {"predicted_peak_bytes", "measured_peak_bytes"}) {
    EXPECT_EQ(keys_of(run.summary.at(which)), (Names{"device", "host", "nvme"}));
  }
}

void expect_environment(Run const& run) {
  std::ifstream file(run.dir / "environment.json");
  auto const devices = nlohmann::json::parse(file).at("devices").get<std::string>();
  auto const* const expected = on_device() ? "stand-in for a GPU (sm_90)" : "cpu (Kokkos ";
  EXPECT_TRUE(devices.starts_with(expected)) << devices;
}

void expect_to_say_where(Run const& run) {
  auto const* const expected =
      on_device() ? "spillway: info: computes on 2 GPUs, stand-in for a GPU (sm_90), with 2 ranks\n"
                  : "spillway: info: computes on the cores with 2 ranks of ";
  EXPECT_NE(run.output.find(expected), std::string::npos) << run.output;
}

// No lane is busy for longer than the step lasts.
void expect_possible_seconds(Run const& run) {
  for (auto const& row : run.rows)
    for (auto const& [name, lane] : row.at("lanes").items())
      EXPECT_LE(lane.at("busy_s").get<double>(), 2 * row.at("step_s").get<double>() + 1) << name;
}

// Parts add up to the whole, and none was counted twice.
void expect_times_to_add_up(Run const& run) {
  auto const& times = run.summary.at("times");
  auto const whole_s = times.at("training").at("avg_s").get<double>();
  double parts_s = 0;
  for (auto const& [part, row] : times.items())
    if (part != "training") parts_s += row.at("avg_s").get<double>();
  EXPECT_NEAR(parts_s, whole_s, 1e-9 * whole_s);
  EXPECT_GE(times.at("other").at("min_s").get<double>(), -0.01 * whole_s) << times;
  for (auto const* part : {"matmul forward", "matmul backward", "attention", "loss", "other ops",
                           "optimizer", "saving"}) {
    EXPECT_GT(times.at(part).at("min_s").get<double>(), 0) << part;
    EXPECT_GT(times.at(part).at("predicted_s").get<double>(), 0) << part;
  }
}

// What the summary says of the run's end is what the last row says.
void expect_outcome(Run const& run) {
  auto const& last = run.rows.back();
  EXPECT_EQ(run.summary.at("step"), last.at("step"));
  EXPECT_EQ(run.summary.at("tokens"), last.at("tokens"));
  EXPECT_EQ(run.summary.at("loss"), last.at("loss"));
  auto best = last.at("loss").get<double>();
  for (auto const& row : run.rows) best = std::min(best, row.at("loss").get<double>());
  EXPECT_EQ(run.summary.at("best_loss"), best);
  EXPECT_GT(run.summary.at("duration_s").get<double>(),
            run.summary.at("restart_s").get<double>() + run.summary.at("saves_s").get<double>());
}

// config.yaml holds every value used, so it alone trains the same model again.
void expect_repeatable(Run const& run) {
  auto const again = run.dir.parent_path() / "again";
  auto const outcome =
      run_command(spillway_command(2) + " train " + (run.dir / "config.yaml").string() +
                  " run.dir=" + again.string());
  ASSERT_EQ(outcome.status, 0) << outcome.output;
  Run repeated;
  repeated.dir = again;
  repeated.rows = read_metrics(again);
  expect_equal_steps(run, repeated);
  expect_equal_state(run, repeated);
}

TEST(RunDirectory, holds_what_the_documents_say) {
  Experiment const experiment("run_files", 2, {"run.checkpoint.keep=1"});
  auto const run = experiment.run("run", {"plan.activations=nvme", "plan.update=device"});
  expect_files(run);
  expect_promised_keys(run);
  expect_environment(run);
  expect_to_say_where(run);
  expect_possible_seconds(run);
  expect_times_to_add_up(run);
  expect_outcome(run);
  expect_repeatable(run);
}

// Of so many micro-batches a few are simulated, and stand for the others.
TEST(RunDirectory, holds_the_forecast_of_all_ops_of_thousands_of_micro_batches) {
  Experiment const experiment("many_micro_batches", 0, {"run.steps=1", "run.checkpoint.keep=1"});
  auto const run =
      experiment.run("run", {"batch.sequences=1500", "batch.micro=1", "data.sequence=8"});
  double ops_s = 0;
  for (auto const& op : run.summary.at("ops")) ops_s += op.at("predicted_s").get<double>();
  auto const part = ops_s / run.summary.at("predicted_step_s").get<double>();
  EXPECT_GT(part, 0.7);
  EXPECT_LT(part, 1.3);
}

}  // namespace
}  // namespace spillway::test::run_files_test
