// Wrong input: nothing starts, one line names the file or key, the status is 2 (3: does not fit, 5:
// damaged).
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "fault_test.hpp"

namespace spillway::test::bad_input_test {
namespace {

namespace fs = std::filesystem;

// "64MiB" after "at least memory.device=" in a message; empty where it does not say so.
std::string word_after(std::string const& what, std::string const& message) {
  auto const at = message.find(what);
  std::string word;
  if (at != std::string::npos) std::istringstream(message.substr(at + what.size())) >> word;
  while (word.ends_with(';') || word.ends_with(',')) word.pop_back();
  return word;
}

class BadInput : public FaultTest {
 protected:
  // Refused before anything is made in run.dir.
  void expect_not_started(int status, std::string const& text, std::string const& overrides) {
    EXPECT_TRUE(fails_with(status, text, train(overrides)));
    EXPECT_FALSE(fs::exists(m_dir / "run"));
  }

  // llm.c's .bin: magic, version, count, then 16-bit tokens.
  void write_llmc(std::string const& name, std::vector<std::uint16_t> const& tokens,
                  std::int32_t said) {
    std::vector<std::int32_t> header(256);
    header[0] = 20240520;
    header[1] = 1;
    header[2] = said;
    std::ofstream file(m_dir / name, std::ios::binary);
    file.write(reinterpret_cast<char const*>(header.data()), 1024);
    file.write(reinterpret_cast<char const*>(tokens.data()),
               static_cast<std::streamsize>(2 * tokens.size()));
  }

  std::string tokens(std::string const& name) { return "data.train=" + path(name); }
};

TEST_F(BadInput, a_missing_input_file_is_named) {
  auto const command = spillway_command(kAlone) + " train " + path("none.yaml");
  EXPECT_TRUE(fails_with(2, path("none.yaml"), run_command(command)));
}

TEST_F(BadInput, keys_and_values_that_cannot_be_are_named) {
  expect_not_started(2, "model.haeds: unknown key; did you mean model.heads?", "model.haeds=2");
  expect_not_started(2, "model.heads: expected an integer", "model.heads=two");
  expect_not_started(2, "model.heads: 3 does not divide", "model.heads=3");
  expect_not_started(2, "plan.activations: nvme needs memory.nvme", "plan.activations=nvme");
}

TEST_F(BadInput, keys_that_contradict_each_other_are_named) {
  auto const nvme = " memory.nvme.path=" + path("nvme") + " memory.nvme.size=64MiB ";
  expect_not_started(2, "memory.nvme.path: needed with memory.nvme.size", "memory.nvme.size=1GiB");
  expect_not_started(2, "memory.nvme.size: needed with", "memory.nvme.path=" + path("nvme"));
  expect_not_started(2, "plan.update: 'nvme' is not one of", nvme + "plan.update=nvme");
  expect_not_started(2, "plan.optimizer: host needs memory.host", nvme + "plan.optimizer=host");
  expect_not_started(2, "plan.activations: keep takes no fraction; host, nvme",
                     nvme + "plan.activations=keep:0.5");
  expect_not_started(2, "debug.checksum_all: not offered in this version",
                     "debug.checksum_all=true");
  expect_not_started(2, "plan.activations: contradicts plan.file",
                     "plan.file=plan.yaml plan.activations=keep");
}

TEST_F(BadInput, a_forced_plan_that_does_not_match_the_model_is_named) {
  expect_not_started(2, "plan.activations: a list of 3 for model.layers = 2",
                     "plan.activations=[keep,keep,keep]");
  EXPECT_TRUE(fails_with(2, "plan.parameters: a list of 9 for ",
                         train("plan.parameters=[device,device,device,device,device,device,device,"
                               "device,device]")));
}

TEST_F(BadInput, a_saved_plan_that_does_not_match_is_named_by_its_line) {
  auto const file = "plan.file=" + path("plan.yaml");
  auto const expect_refused = [&](std::string const& plan, std::string const& text) {
    write("plan.yaml", plan);
    expect_not_started(2, text, file);
  };
  auto const line = [&](int number) { return path("plan.yaml") + ":" + std::to_string(number); };
  expect_refused("prefetch: 1\nactivations: [keep, keep, keep]\n",
                 line(2) + ": plan.activations: a list of 3 for model.layers = 2");
  expect_refused("activations:\n  - nvme\n",
                 line(1) + ": plan.activations: nvme needs memory.nvme");
  expect_refused("optimizer: host\n", line(1) + ": plan.optimizer: host needs memory.host");
  expect_refused("activations: [kepp]\n", line(1) + ": plan.activations: 'kepp' is not one of");
  expect_refused("activation: keep\n", line(1) + ": plan.activation: unknown key");
  expect_refused("optimizer: host\nupdate_slice: 4097\n",
                 line(2) + ": plan.update_slice: unknown key");
  expect_refused("file: other.yaml\n", line(1) + ": plan.file: a saved plan names no other one");
  expect_refused("", "plan.yaml");
  expect_not_started(2, "none.yaml", "plan.file=" + path("none.yaml"));
  write("plan.yaml", "activations: recompute\n");
  EXPECT_EQ(train(file).status, 0);
}

TEST_F(BadInput, memory_passed_off_as_a_drive_is_said_once_and_measured) {
  fs::path const memory = "/dev/shm";
  if (!fs::is_directory(memory)) GTEST_SKIP() << "no /dev/shm here";
  if (run_command("stat -f -c %T /dev/shm").output != "tmpfs\n") GTEST_SKIP() << "no tmpfs there";
  auto const outcome = train(
      "memory.nvme.path=/dev/shm memory.nvme.size=8MiB plan.activations=nvme debug.machine=none");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  auto const said = outcome.output.find("/dev/shm is in main memory (tmpfs)");
  ASSERT_NE(said, std::string::npos) << outcome.output;
  auto const closing = outcome.output.find("1 warning:");
  ASSERT_NE(closing, std::string::npos) << outcome.output;
  EXPECT_GT(outcome.output.find("is in main memory", said + 20), closing);
}

TEST_F(BadInput, a_line_of_the_input_file_is_named) {
  write("job.yaml", read("job.yaml") + "batch: {sequences: 4}\n");
  expect_not_started(2, path("job.yaml") + ":", "");
}

TEST_F(BadInput, token_files_that_are_none_are_refused) {
  write("empty.h5", "");
  write("foreign.txt", "to be or not to be\n");
  expect_not_started(2, "none.h5", tokens("none.h5"));
  expect_not_started(2, "empty.h5: the file is empty", tokens("empty.h5"));
  expect_not_started(2, "foreign.txt: not an HDF5 file; `spillway tokenize` makes files of tokens",
                     tokens("foreign.txt"));
}

TEST_F(BadInput, token_files_cut_short_are_damaged) {
  auto const whole = read("tokens.h5");
  write("cut.h5", whole.substr(0, whole.size() / 2));
  write_llmc("cut.bin", std::vector<std::uint16_t>(100), 5000);
  expect_not_started(5, "cut.h5: cut short", tokens("cut.h5"));
  expect_not_started(5, "cut.bin: cut short", tokens("cut.bin"));
}

TEST_F(BadInput, sequences_longer_than_the_table_of_positions_are_refused) {
  std::string const line =
      "data.sequence: 64 is more than the model has positions for; give at most model.positions, "
      "which is 63";
  expect_not_started(2, line, "model.positions=63");
  expect_not_started(2, line, "model.positions=63 model.family=bert model.vocab=257");
  EXPECT_EQ(train("model.positions=64").status, 0);
}

TEST_F(BadInput, a_vocabulary_larger_than_the_models_is_refused) {
  expect_not_started(2, "its vocabulary of 256 is larger than model.vocab = 100",
                     "model.vocab=100");
}

TEST_F(BadInput, a_token_beyond_the_vocabulary_is_damage_named_by_position) {
  std::vector<std::uint16_t> bad(2000, 5);
  bad[1500] = 60000;
  write_llmc("bad.bin", bad, 2000);
  auto const overrides = tokens("bad.bin") + " model.vocab=50257 memory.device=512MiB";
  for (int const ranks : {kAlone, kTwoRanks}) {
    auto const outcome = train(overrides + " run.steps=20", ranks);
    EXPECT_TRUE(fails_with(5, "bad.bin: token 1500 is 60000", outcome));
  }
}

TEST_F(BadInput, a_token_file_shorter_than_one_sequence_is_refused) {
  write_token_file(m_dir / "short.h5", 64);
  expect_not_started(2, "short.h5: 64 tokens do not fill one sequence of 64", tokens("short.h5"));
}

TEST_F(BadInput, objectives_that_the_family_does_not_have_are_refused) {
  expect_not_started(2, "data.objective: masked is not for models of the family gpt",
                     "data.objective=masked");
  expect_not_started(2, "data.target: is of the objective spans", "data.target=16");
}

TEST_F(BadInput, documents_that_no_file_tells_cannot_be_kept_apart) {
  write_llmc("plain.bin", std::vector<std::uint16_t>(2000), 2000);
  expect_not_started(2, "plain.bin: data.pack: this llm.c file does not say where documents begin",
                     tokens("plain.bin") + " data.pack=true model.vocab=50257");
}

TEST_F(BadInput, documents_that_leave_nothing_to_predict_are_refused) {
  write_token_file(m_dir / "ones.h5", 2000, 1);
  auto const pack = std::string(" data.pack=true");
  expect_not_started(
      2, "data.train: " + path("ones.h5") + ": data.pack keeps documents apart, and none",
      tokens("ones.h5") + pack);
  write_token_file(m_dir / "documents.h5", 2000, 10);
  auto const valid = " data.valid=" + path("ones.h5");
  expect_not_started(2, "data.valid: " + path("ones.h5") + ": data.pack keeps",
                     tokens("documents.h5") + pack + valid);
  ASSERT_EQ(train(tokens("documents.h5") + pack + " run.steps=1").status, 0);
  auto const eval = spillway_command(kAlone) + " eval " + path("job.yaml") + pack + valid +
                    " --checkpoint " + path("run");
  EXPECT_TRUE(fails_with(2, "ones.h5: data.pack keeps", run_command(eval)));
}

TEST_F(BadInput, a_run_dir_that_cannot_be_made_is_refused) {
  write("file", "no directory");
  EXPECT_TRUE(fails_with(2, "run.dir: ", train("run.dir=" + path("file/run"))));
}

// Nothing can be below what cannot be made: the cause is named.
TEST_F(BadInput, a_run_dir_is_named_before_a_spill_path_below_it) {
  write("file", "no directory");
  auto const below = [](std::string const& dir) {
    return "run.dir=" + dir + " memory.nvme.size=64MiB memory.nvme.path=" + dir;
  };
  auto const dir = path("file/run");
  for (int const ranks : {kAlone, kTwoRanks})
    EXPECT_TRUE(fails_with(2, "run.dir: " + dir + ": cannot be created",
                           train(below(dir) + "/spill", ranks)));
  EXPECT_TRUE(fails_with(2, "run.dir: /proc/run: cannot be created", train(below("/proc/run"))));
  EXPECT_TRUE(fails_with(2, "run.dir: /proc: cannot be written", train(below("/proc"))));
}

TEST_F(BadInput, a_directory_for_spilling_that_is_missing_is_refused) {
  auto const nvme = " memory.nvme.size=64MiB memory.nvme.path=" + path("none");
  expect_not_started(2, "memory.nvme.path: no spill file in", nvme);
}

TEST_F(BadInput, a_list_of_directories_for_spilling_is_of_different_ones_that_are_there) {
  auto const paths = [&](std::string const& list) {
    return " memory.nvme.size=64MiB memory.nvme.path=[" + list + "]";
  };
  auto const there = path("nvme");
  expect_not_started(2, "memory.nvme.path: no spill file in " + path("none"),
                     paths(there + "," + path("none")));
  expect_not_started(2, "memory.nvme.path: " + there + " is there twice",
                     paths(there + "," + there));
  expect_not_started(2, "memory.nvme.path: " + there + " and " + there + "/. are one directory",
                     paths(there + "," + there + "/."));
  expect_not_started(2, "memory.nvme.path: 'none' in a list of directories",
                     paths(there + ",none"));
}

TEST_F(BadInput, checkpoints_that_no_disk_holds_are_refused_before_step_0) {
  auto const outcome =
      train("run.steps=1000000000 run.checkpoint.every=1 run.checkpoint.keep=1000000000");
  EXPECT_TRUE(fails_with(2, "checkpoints need", outcome));
  EXPECT_FALSE(fs::exists(m_dir / "run/latest"));
}

TEST_F(BadInput, budgets_that_no_machine_has_are_refused) {
  auto const above = [](std::string const& budgets) { return budgets + "; give less, or auto"; };
  for (int const ranks : {kAlone, kTwoRanks}) {
    auto const outcome = train("memory.device=900TB", ranks);
    EXPECT_TRUE(fails_with(2, "memory.device = 819 TiB", outcome));
    EXPECT_TRUE(fails_with(2, above(" of main memory on a node"), outcome));
  }
  EXPECT_TRUE(fails_with(2, "memory.host = 819 TiB", train("memory.host=900TB")));
  EXPECT_FALSE(fs::exists(m_dir / "run/latest"));
}

// Who plans for a cluster at a desk is told how.
TEST_F(BadInput, ranks_that_one_node_has_no_memory_for_may_be_meant_for_several) {
  auto const plan = [&](std::string const& words) {
    return run_command(spillway_command(kAlone) + " plan " + path("job.yaml") + " " + words);
  };
  auto const hint = "; here 64 ranks share this node, --machine FILE plans for";
  EXPECT_TRUE(fails_with(2, hint, plan("--ranks 64 memory.device=900TB")));
  EXPECT_TRUE(fails_with(3, hint, plan("--ranks 64 memory.device=1MiB batch.sequences=256")));
  EXPECT_FALSE(fails_with(3, "--machine", plan("memory.device=1MiB")));
}

TEST_F(BadInput, the_smallest_budget_that_is_named_is_enough_and_less_is_not) {
  auto const outcome = train("memory.device=1MiB");
  ASSERT_TRUE(fails_with(3, "needs at least memory.device=", outcome));
  EXPECT_TRUE(fails_with(3, "; its steps would take ", outcome));
  EXPECT_EQ(train("memory.device=" + word_after("at least memory.device=", outcome.output)).status,
            0);
}

TEST_F(BadInput, the_smallest_spill_file_that_is_named_is_enough) {
  auto const outcome = train(spilling() + "memory.nvme.size=64KiB");
  ASSERT_TRUE(
      fails_with(3, "memory.nvme.size = 64 KiB: needs at least memory.nvme.size=", outcome));
  auto const enough = fmt::format("{} memory.nvme.size={}", spilling(),
                                  word_after("at least memory.nvme.size=", outcome.output));
  EXPECT_EQ(train(enough).status, 0);
}

// What README says of it; a larger budget there would let everything stay.
TEST_F(BadInput, the_quickstart_has_no_room_to_keep_every_activation) {
  auto const quickstart = SPILLWAY_SOURCE_DIR "/input/quickstart.yaml run.dir=run data.valid=none";
  auto const command = spillway_command(kTwoRanks) + " train " + quickstart +
                       " data.train=tokens.h5 plan.activations=keep plan.shard=none "
                       "memory.nvme=none";
  auto const outcome = run_command("cd " + m_dir.string() + " && " + command);
  EXPECT_TRUE(fails_with(3, "needs at least memory.device=", outcome));
}

TEST_F(BadInput, two_ranks_refuse_alike_and_one_speaks) {
  EXPECT_TRUE(fails_with(2, "model.haeds: unknown key", train("model.haeds=2", kTwoRanks)));
  EXPECT_TRUE(fails_with(2, "none.h5", train(tokens("none.h5"), kTwoRanks)));
  EXPECT_TRUE(fails_with(3, "at least memory.device=", train("memory.device=1MiB", kTwoRanks)));
}

TEST_F(BadInput, shares_that_ranks_cannot_have_are_refused) {
  auto const two = [&](std::string const& keys) { return train(keys, kTwoRanks); };
  EXPECT_TRUE(fails_with(2, "batch.share: a list of 3 for 2 ranks", two("batch.share=[1,1,1]")));
  EXPECT_TRUE(fails_with(2, "batch.share: 1 micro-batch of 2 sequences for 2 ranks",
                         two("batch.share=[1,1] batch.sequences=2 batch.micro=2")));
  EXPECT_TRUE(
      fails_with(2, "batch.share: 0 is out of bounds: integer, 1 to", two("batch.share=[1,0]")));
  std::string const uneven = "batch.share=[2,1] batch.sequences=3 batch.micro=1 ";
  EXPECT_TRUE(fails_with(2, "plan.shard: all: ranks meet in every micro-batch",
                         two(uneven + "plan.shard=all")));
  EXPECT_TRUE(fails_with(2, "optim.reduction: each: ranks meet in every micro-batch",
                         two(uneven + "optim.reduction=each")));
  EXPECT_EQ(two("batch.share=[2,2] batch.sequences=4 batch.micro=1 plan.shard=all").status, 0);
}

TEST_F(BadInput, a_run_dir_in_use_is_refused_and_its_run_goes_on) {
  auto const outcome =
      run_command(train_command("run.steps=1000000") + " & " + until(has_step(path("run"))) +
                  train_command("") + "; echo second ended with $?; kill -USR1 $!; wait $!");
  EXPECT_TRUE(fails_with(75, "another job is running in it", outcome));
  EXPECT_NE(outcome.output.find("second ended with 2"), std::string::npos);
}

}  // namespace
}  // namespace spillway::test::bad_input_test
