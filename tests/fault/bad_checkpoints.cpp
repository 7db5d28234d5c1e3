// Checkpoints that are damaged, of another model, or cannot be written.
#include <fmt/format.h>

#include "fault_test.hpp"
#include "preload.hpp"

namespace spillway::test::bad_checkpoints_test {
namespace {

namespace fs = std::filesystem;

class BadCheckpoints : public FaultTest {
 protected:
  // Two checkpoints, `latest` naming the second.
  void make_run() { ASSERT_EQ(train("run.steps=2 run.checkpoint.every=1").status, 0); }

  void cut(std::string const& name) {
    fs::resize_file(m_dir / name, fs::file_size(m_dir / name) / 2);
  }

  // How the first one is named where the second is damaged.
  std::string named_step_1() const {
    return fmt::format("({} is complete: give that one, or write step-1 into {} to go on from it)",
                       path("run/step-1"), path("run/latest"));
  }

  std::string inspect_latest() {
    auto latest = read("run/latest");
    latest.pop_back();
    return spillway_command(kAlone) + " inspect " + path("run/" + latest);
  }
};

TEST_F(BadCheckpoints, a_shard_cut_short_is_damage_and_the_older_one_still_serves) {
  make_run();
  cut("run/step-2/shard-0.h5");
  for (int const ranks : {kAlone, kTwoRanks}) {
    EXPECT_TRUE(fails_with(5, "step-2/shard-0.h5: has ", train("", ranks)));
    EXPECT_TRUE(fails_with(5, named_step_1(), train("", ranks)));
  }
  write("run/latest", "step-1\n");  // as the message says
  EXPECT_EQ(train("").status, 0);
  EXPECT_EQ(read("run/latest"), "step-4\n");
}

TEST_F(BadCheckpoints, a_manifest_cut_short_or_missing_is_damage) {
  make_run();
  cut("run/step-2/checkpoint.h5");
  EXPECT_TRUE(fails_with(5, "step-2/checkpoint.h5", train("")));
  fs::remove(m_dir / "run/step-2/checkpoint.h5");
  EXPECT_TRUE(fails_with(5, "step-2/checkpoint.h5", train("")));
}

TEST_F(BadCheckpoints, a_changed_value_is_damage) {
  make_run();
  auto bytes = read("run/step-2/shard-0.h5");
  bytes[bytes.size() / 2] ^= 1;
  write("run/step-2/shard-0.h5", bytes);
  EXPECT_TRUE(fails_with(5, "not the values that were written", train("")));
  EXPECT_TRUE(fails_with(5, named_step_1(), train("")));
}

// Whatever command it is, a run's directory stands for its newest.
TEST_F(BadCheckpoints, a_damaged_newest_one_names_the_one_before_it_to_every_command) {
  make_run();
  auto const sound = read("run/step-2/shard-0.h5");
  auto changed = sound;
  changed[changed.size() / 4] ^= 1;  // of the weights
  auto const valid = " data.valid=" + path("tokens.h5");
  auto const commands = [&](std::string const& checkpoint) {
    auto const at = path(checkpoint), spillway = spillway_command(kAlone);
    return std::vector{
        fmt::format("{} eval {} --checkpoint {} {}", spillway, path("job.yaml"), at, valid),
        fmt::format("{} generate --checkpoint {} --prompt-ids 1,2 --tokens 2", spillway, at),
        fmt::format("{} export {} -o {}", spillway, at, path("out"))};
  };
  for (auto const* checkpoint : {"run", "run/step-2", "run/step-2/"}) {
    for (auto const& damaged : {changed, sound.substr(0, sound.size() / 2)}) {
      write("run/step-2/shard-0.h5", damaged);
      for (auto const& command : commands(checkpoint))
        EXPECT_TRUE(fails_with(5, named_step_1(), run_command(command))) << command;
    }
  }
  EXPECT_TRUE(fails_with(5, named_step_1(),
                         train(fmt::format("run.dir={} run.init={}", path("other"), path("run")))));
  for (auto const& command : commands("run/step-1")) EXPECT_EQ(run_command(command).status, 0);
  std::filesystem::remove_all(m_dir / "out");
  write("run/step-2/shard-0.h5", sound);
  for (auto const& command : commands("run")) EXPECT_EQ(run_command(command).status, 0) << command;

  cut("run/step-1/shard-0.h5");
  cut("run/step-2/shard-0.h5");
  EXPECT_TRUE(fails_with(5, "no checkpoint before it is complete", train("")));
}

TEST_F(BadCheckpoints, a_pointer_that_names_nothing_is_damage) {
  make_run();
  for (auto const* name : {"step-99\n", "junk\n", ""}) {
    write("run/latest", name);
    EXPECT_TRUE(fails_with(5, "latest", train(""))) << name;
  }
}

TEST_F(BadCheckpoints, a_missing_pointer_loses_nothing) {
  for (int const ranks : {kAlone, kTwoRanks}) {
    fs::remove_all(m_dir / "run");
    make_run();
    fs::remove(m_dir / "run/latest");
    auto const outcome = train("run.steps=3 run.checkpoint.keep=1", ranks);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_NE(outcome.output.find("latest: was missing; step-2 is the newest"), std::string::npos)
        << outcome.output;
    EXPECT_EQ(bits("run").size(), 3u);
    EXPECT_EQ(read("run/latest"), "step-3\n");
  }
}

TEST_F(BadCheckpoints, later_ones_than_the_pointer_names_are_kept_and_said) {
  ASSERT_EQ(train("run.steps=3 run.checkpoint.every=1").status, 0);
  write("run/latest", "step-1\n");
  auto const second = read("run/step-2/seal"), third = read("run/step-3/seal");
  auto const outcome = train("run.steps=3 run.checkpoint.every=1 run.checkpoint.keep=1");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("the later checkpoints (step 2, 3) are in"), std::string::npos)
      << outcome.output;
  EXPECT_EQ(read("run/latest"), "step-3\n");
  EXPECT_EQ(read("run/earlier-1/step-2/seal"), second);
  EXPECT_EQ(read("run/earlier-1/step-3/seal"), third);
}

TEST_F(BadCheckpoints, a_run_that_begins_anew_sets_aside_those_that_are_there) {
  auto const finds = [&](std::string const& earlier) {
    for (auto const* name : {"/latest", "/step-2/seal"})
      EXPECT_TRUE(fs::exists(m_dir / "run" / (earlier + name))) << earlier << name;
  };
  make_run();
  for (int const ranks : {kAlone, kTwoRanks}) {
    auto const number = ranks == kAlone ? "1" : "2";
    auto const outcome = train("run.steps=2 run.checkpoint.resume=never", ranks);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_NE(outcome.output.find(std::string("earlier-") + number), std::string::npos);
    finds(std::string("earlier-") + number);
    EXPECT_EQ(read("run/latest"), "step-2\n");
  }
  // Until there is a first one of its own, what it begins from stays where it is.
  auto const weights = std::string("run.steps=2 run.checkpoint.resume=weights ");
  EXPECT_EQ(train(weights + "debug.fault=kill-rank:1").status, 137);
  EXPECT_EQ(read("run/latest"), "step-2\n");
  auto const outcome = train(weights);
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("weights from"), std::string::npos);
  finds("earlier-3");
  EXPECT_TRUE(fails_with(
      2, "run.checkpoint.resume: weights: ", train(weights + "run.dir=" + path("other"))));
}

TEST_F(BadCheckpoints, storage_that_says_only_at_the_end_that_it_is_full_is_heard) {
  if (!can_preload()) GTEST_SKIP() << "a sanitizer's build cannot be preloaded";
  ASSERT_EQ(train("run.steps=2").status, 0);
  auto const expect_heard = [&](std::string const& calls, std::string const& file, int ranks) {
    Planted const fault{.calls = calls, .path = file, .what = "ENOSPC"};
    auto const outcome = run_command(planted(fault) + train_command("", ranks));
    EXPECT_TRUE(fails_with(4, "No space left on device", outcome)) << calls << ' ' << file;
    EXPECT_EQ(read("run/latest"), "step-2\n");
    EXPECT_FALSE(fs::exists(m_dir / "run/step-4"));
  };
  for (auto const* calls : {"close", "fsync", "pwrite,write"}) {
    for (auto const* file : {"shard-0.h5", "checkpoint.h5", "step-4.partial/seal"})
      expect_heard(calls, file, kAlone);
    expect_heard(calls, "shard-1.h5", kTwoRanks);
  }
  EXPECT_EQ(train("", kTwoRanks).status, 0);
}

TEST_F(BadCheckpoints, another_model_is_refused_even_with_equal_shapes) {
  make_run();
  EXPECT_TRUE(fails_with(2, "model.hidden is 64 there, 32 here", train("model.hidden=32")));
  EXPECT_TRUE(fails_with(2, "model.heads is 2 there, 4 here", train("model.heads=4")));
  EXPECT_TRUE(fails_with(2, "another model", train("data.sequence=32")));
  auto const other = fmt::format("run.dir={} run.init={}", path("other"), path("run/step-2"));
  EXPECT_TRUE(fails_with(2, "model.heads is 2 there, 4 here", train(other + " model.heads=4")));
  EXPECT_TRUE(fails_with(2, "model.heads", train("model.heads=4", kTwoRanks)));
  EXPECT_EQ(read("run/latest"), "step-2\n");
}

// Its states are other numbers, even if they have the same names. Weights are weights.
TEST_F(BadCheckpoints, of_another_optimizer_are_refused) {
  ASSERT_EQ(train("run.steps=1").status, 0);
  EXPECT_TRUE(fails_with(2, "optim.name: its optimizer has states of adamw, not of lion; go on",
                         train("run.steps=2 optim.name=lion")));
  auto const sgd = std::string("optim.name=sgd run.checkpoint.resume=weights ");
  EXPECT_EQ(train(sgd + "run.steps=2").status, 0);
  EXPECT_TRUE(fails_with(
      2, "optim.momentum: its optimizer has states of no momentum, not of a momentum; go on",
      train(sgd + "run.steps=3 optim.momentum=0.9")));
}

TEST_F(BadCheckpoints, one_that_cannot_be_written_is_said_and_tried_again) {
  for (int const ranks : {kAlone, kTwoRanks}) {
    auto const run = fmt::format("run-{}", ranks);
    fs::create_directories(m_dir / run / "latest.partial");  // stands where a file must go
    auto const overrides = "run.steps=1000000 run.checkpoint.every=2 run.dir=" + path(run);
    auto const log = path(run + ".log");
    auto const script = train_command(overrides, ranks) + " > " + log + " 2>&1 & " +
                        until("grep -q \"checkpoint of step\" " + log) + "rmdir " +
                        path(run + "/latest.partial; ") +
                        until("test -e " + path(run + "/latest")) + "kill -USR1 $!; wait $!";
    EXPECT_EQ(run_command(script).status, 75);
    EXPECT_NE(read(run + ".log").find("latest.partial: cannot be replaced: Is a directory; tried"),
              std::string::npos);
    EXPECT_TRUE(fs::exists(m_dir / run / read(run + "/latest").substr(0, 6)));
  }
}

TEST_F(BadCheckpoints, a_last_one_that_cannot_be_written_ends_the_run_and_spares_the_one_before) {
  ASSERT_EQ(train("run.steps=2").status, 0);
  fs::create_directory(m_dir / "run/latest.partial");
  for (int const ranks : {kAlone, kTwoRanks}) {
    EXPECT_TRUE(fails_with(4, "checkpoint of step 4", train("", ranks)));
    EXPECT_EQ(read("run/latest"), "step-2\n");
  }
  fs::remove(m_dir / "run/latest.partial");
  EXPECT_EQ(train("").status, 0);
  EXPECT_EQ(read("run/latest"), "step-4\n");
}

TEST_F(BadCheckpoints, a_full_disk_leaves_the_one_before_and_no_half_of_the_next) {
  // A limit on file sizes stands for the full disk; MPI needs a few MiB below it.
  auto const large = "model.hidden=128 model.layers=8 memory.device=512MiB";
  ASSERT_EQ(train(std::string(large) + " run.steps=1").status, 0);
  auto const limited = "ulimit -f 32768; " + train_command(large);
  EXPECT_TRUE(fails_with(4, "File too large", run_command(limited)));
  EXPECT_FALSE(fs::exists(m_dir / "run/step-4.partial"));
  EXPECT_EQ(read("run/latest"), "step-1\n");
  EXPECT_EQ(run_command(inspect_latest()).status, 0);
}

TEST_F(BadCheckpoints, steps_already_reached_are_done_at_once) {
  make_run();
  auto const rows = read_metrics(m_dir / "run").size();
  for (int const ranks : {kAlone, kTwoRanks}) {
    auto const outcome = train("run.steps=2", ranks);
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_NE(outcome.output.find("already at step 2"), std::string::npos);
  }
  EXPECT_EQ(read_metrics(m_dir / "run").size(), rows);
}

}  // namespace
}  // namespace spillway::test::bad_checkpoints_test
