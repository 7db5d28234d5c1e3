// Steps and evaluations in which nothing is to be predicted: they are named, change nothing, and
// end nothing.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "io/h5/checkpoint_reader.hpp"
#include "tests/parity/experiment.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::no_targets_test {
namespace {

// One of seven tokens is hidden: often none of eight.
Keys const kMasked = {"model.family=bert", "data.sequence=8",        "batch.micro=1",
                      "precision=fp32",    "data.valid=none",        "run.checkpoint.every=1",
                      "run.steps=40",      "run.checkpoint.keep=100"};

std::filesystem::path checkpoint_of(Run const& run, std::int64_t step) {
  return run.dir / fmt::format("step-{}", step);
}

std::int64_t updates_at(std::filesystem::path const& checkpoint) {
  return std::stoll(CheckpointReader(checkpoint).run_strings().at("updates"));
}

// Leaves out the list at the end of the log, which repeats warnings.
std::int64_t times_said(Run const& run, std::string const& text) {
  auto const list = std::min(run.output.find(" warning:\n"), run.output.find(" warnings:\n"));
  std::int64_t times = 0;
  for (auto at = run.output.find(text); at < list; at = run.output.find(text, at + 1)) ++times;
  return times;
}

struct Counted {
  std::int64_t empty = 0, most_in_a_row = 0;
};

// Steps without targets leave the state of the step before, to the bit.
Counted expect_empty_steps_to_change_nothing(Run const& run) {
  Counted counted;
  std::int64_t in_a_row = 0;
  for (auto const& row : run.rows) {
    auto const step = row.at("step").get<std::int64_t>();
    bool const empty = row.at("targets") == 0;
    EXPECT_EQ(row.at("loss").is_null(), empty) << row;
    EXPECT_EQ(row.at("grad_norm").is_null(), empty) << row;
    in_a_row = empty ? in_a_row + 1 : 0;
    counted.empty += empty ? 1 : 0;
    counted.most_in_a_row = std::max(counted.most_in_a_row, in_a_row);
    if (step == 1) continue;
    auto const before = checkpoint_of(run, step - 1), after = checkpoint_of(run, step);
    EXPECT_EQ(updates_at(after) - updates_at(before), empty ? 0 : 1) << step;
    if (empty) expect_equal_tensors(before, after);
  }
  EXPECT_EQ(run.rows.back().at("step"), 40);
  EXPECT_EQ(times_said(run, "warning: step "), 1) << run.output;
  EXPECT_EQ(times_said(run, ": nothing to predict in its "), 1) << run.output;
  EXPECT_EQ(times_said(run, fmt::format("{} steps had nothing to predict", counted.empty)), 1);
  return counted;
}

// With a clip the updates wait for the commit, without one they run beside the backward pass.
TEST(StepsWithoutTargets, change_nothing) {
  for (std::string const clip : {"1", "0"}) {
    auto const run = Experiment("no_targets_clip" + clip, 0, kMasked)
                         .run("run", {"batch.sequences=1", "optim.clip=" + clip});
    EXPECT_GT(expect_empty_steps_to_change_nothing(run).empty, 4);
  }
}

TEST(StepsWithoutTargets, are_no_failures_however_many_follow_each_other) {
  auto const run =
      Experiment("no_targets_in_a_row", 0, kMasked)
          .run("run", {"batch.sequences=1", "data.sequence=1", "optim.non_finite=skip"});
  EXPECT_GT(expect_empty_steps_to_change_nothing(run).most_in_a_row, 10);
}

// Where one rank, or one of several micro-batches, has no targets the others count.
TEST(StepsWithoutTargets, are_those_in_which_no_rank_and_no_micro_batch_has_one) {
  Experiment const alone("no_targets_micro", 0, kMasked), two("no_targets_ranks", 2, kMasked);
  Keys const keys = {"batch.sequences=2", "data.sequence=4"};
  auto const one = alone.run("run", keys), both = two.run("run", keys);
  EXPECT_GT(expect_empty_steps_to_change_nothing(both).empty, 2);
  for (auto const* run : {&one, &both})
    EXPECT_EQ(times_said(*run, ": nothing to predict in its 8 tokens, so it changes nothing"), 1)
        << run->output;
  expect_empty_steps_to_change_nothing(one);
  ASSERT_EQ(one.rows.size(), both.rows.size());
  for (std::size_t i = 0; i < one.rows.size(); ++i) {
    EXPECT_EQ(one.rows[i].at("targets"), both.rows[i].at("targets")) << i;
    if (one.rows[i].at("targets") == 0) continue;
    EXPECT_NEAR(one.number(i, "loss"), both.number(i, "loss"), 1e-4) << i;
  }
}

// What evaluations hide of this text is none of its tokens.
TEST(EvaluationsWithoutTargets, are_said_in_training_and_refused_by_the_command) {
  Experiment const experiment("no_targets_valid", 0, kMasked);
  auto const valid = (experiment.directory() / "short.h5").string();
  write_token_file(valid, 3);
  auto const run = experiment.run(
      "run", {"data.sequence=2", "batch.sequences=8", "run.steps=2", "data.valid=" + valid});
  ASSERT_EQ(run.rows.size(), 2u);
  EXPECT_TRUE(run.rows.back().at("valid_loss").is_null());
  EXPECT_EQ(run.rows.back().at("valid_targets"), 0);
  EXPECT_EQ(times_said(run, "valid none at step 2"), 1) << run.output;

  auto const outcome =
      run_command(fmt::format("{} eval {}/config.yaml --checkpoint {}", spillway_command(0),
                              run.dir.string(), run.dir.string()));
  EXPECT_EQ(outcome.status, 2) << outcome.output;
  EXPECT_NE(outcome.output.find("data.valid: " + valid + ": nothing to predict in the 2 tokens"),
            std::string::npos)
      << outcome.output;
}

}  // namespace
}  // namespace spillway::test::no_targets_test
