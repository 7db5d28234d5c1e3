// The other commands, given what they cannot use.
#include <fmt/format.h>

#include <regex>

#include "fault_test.hpp"

namespace spillway::test::bad_commands_test {
namespace {

namespace fs = std::filesystem;

class BadCommands : public FaultTest {
 protected:
  Outcome spillway(std::string const& arguments) {
    return run_command(spillway_command(kAlone) + " " + arguments);
  }
};

TEST_F(BadCommands, unknown_commands_and_missing_arguments_are_refused) {
  EXPECT_TRUE(fails_with(2, "trian", spillway("trian " + path("job.yaml"))));
  for (auto const* arguments : {"", "train", "tokenize -o a.h5", "generate", "--no-such-option"}) {
    EXPECT_EQ(spillway(arguments).status, 2) << arguments;
  }
}

TEST_F(BadCommands, a_key_where_the_input_file_should_stand_is_told) {
  auto const outcome = spillway("train optim.lr=1");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.output,
            "spillway: optim.lr=1: is no input file; one comes first, and keys after it\n");
}

// Other programs take keys as options.
TEST_F(BadCommands, keys_that_are_given_as_options_are_told) {
  auto const said = [&](std::string const& option) {
    auto const outcome = spillway("train " + path("job.yaml") + " " + option);
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    return outcome.output;
  };
  std::string const why = ": no option; keys have no dashes, as in key=value: ";
  EXPECT_EQ(said("--learning_rate=1e-3"),
            "spillway: --learning_rate=1e-3" + why +
                "here it is optim.lr (the peak, after the warm-up)\n");
  EXPECT_EQ(said("--run.steps 9"), "spillway: --run.steps" + why + "here it is run.steps\n");
  EXPECT_EQ(said("--lr 1"), "spillway: --lr" + why + "did you mean optim.lr?\n");
  EXPECT_NE(said("--verbose").find("not expected: --verbose"), std::string::npos);
  auto const generate = spillway("generate --checkpoint " + path("run") + " --max_length 9");
  EXPECT_NE(generate.output.find("not expected: --max_length"), std::string::npos)
      << generate.output;
}

TEST_F(BadCommands, tokenize_names_what_it_cannot_read_or_write_and_leaves_nothing) {
  write("text", "to be or not to be\n");
  write("empty", "");
  auto const into = "tokenize -o " + path("out.h5") + " ";
  EXPECT_TRUE(fails_with(2, "none.txt", spillway(into + path("text") + " " + path("none.txt"))));
  EXPECT_TRUE(fails_with(2, "no text", spillway(into + path("empty"))));
  EXPECT_TRUE(fails_with(2, "nvme: has no file that ends with", spillway(into + path("nvme"))));
  auto const below_file = "tokenize -o " + path("text/out.h5") + " " + path("text");
  EXPECT_TRUE(fails_with(2, "cannot be created", spillway(below_file)));
  auto const unsized_text = into + path("text") + " /proc/self/status";
  EXPECT_TRUE(fails_with(2, "/proc/self/status: has text, but its size", spillway(unsized_text)));
  for (auto const& entry : std::filesystem::directory_iterator(m_dir)) {
    EXPECT_FALSE(entry.path().filename().string().starts_with("out.h5")) << entry.path();
  }
}

TEST_F(BadCommands, tokenize_says_how_many_files_hold_nothing) {
  write("text", "to be or not to be\n");
  write("empty", "");
  auto const into = "tokenize -o " + path("out.h5") + " " + path("text") + " ";
  auto const ends = [](Outcome const& outcome, std::string const& text) {
    return outcome.status == 0 && outcome.output.ends_with(text);
  };
  EXPECT_TRUE(ends(spillway(into), "19 tokens of 1 document\n"));
  EXPECT_TRUE(ends(spillway(into + path("empty")), "of 1 document (1 empty file left out)\n"));
  EXPECT_TRUE(ends(spillway(into + path("empty") + " " + path("empty") + " " + path("text")),
                   "of 2 documents (2 empty files left out)\n"));
}

TEST_F(BadCommands, tokenize_takes_directories_lists_stdin_and_records) {
  std::filesystem::create_directory(path("texts"));
  write("texts/a.txt", "to be");
  write("texts/b.pdf", "or not");
  write("c.jsonl", "{\"text\": \"to\"}\n{\"prompt\": \"be\", \"completion\": \"or\"}\n");
  write("lines", "\"a\"\n\"b\"");
  write("list", path("texts") + "\n" + path("c.jsonl") + "\n");
  auto const tokenize = spillway_command(kAlone) + " tokenize --separator -o " + path("out.h5");
  auto const ends = [](Outcome const& outcome, std::string const& text) {
    EXPECT_EQ(outcome.status, 0);
    EXPECT_TRUE(outcome.output.ends_with(text)) << outcome.output;
  };
  ends(run_command(tokenize + " " + path("texts")),
       "out.h5: 6 tokens of 1 document (1 file with another ending, such as " +
           path("texts/b.pdf") + ", left out)\n");
  ends(run_command("printf not | " + tokenize + " -"), "out.h5: 4 tokens of 1 document\n");
  ends(run_command(tokenize + " --format jsonl - < " + path("lines")),
       "out.h5: 4 tokens of 2 documents\n");
  ends(run_command(tokenize + " --files-from - < " + path("list")),
       "out.h5: 14 tokens, 12 of them learned, of 3 documents (1 file with another ending, such "
       "as " +
           path("texts/b.pdf") + ", left out)\n");
  EXPECT_TRUE(fails_with(2, "no file is named; give files, directories, - or --files-from",
                         run_command(tokenize)));
  EXPECT_TRUE(fails_with(2, "c.jsonl:2: has no field `text`, but `prompt`, `completion`",
                         run_command(tokenize + " --text text " + path("c.jsonl"))));
}

TEST_F(BadCommands, inspect_names_what_it_cannot_describe) {
  write("foreign.txt", "to be or not to be\n");
  auto const whole = read("tokens.h5");
  write("cut.h5", whole.substr(0, whole.size() / 2));
  EXPECT_TRUE(fails_with(2, "none", spillway("inspect " + path("none"))));
  EXPECT_TRUE(fails_with(2, "foreign.txt", spillway("inspect " + path("foreign.txt"))));
  EXPECT_TRUE(fails_with(5, "cut.h5: cut short", spillway("inspect " + path("cut.h5"))));
}

TEST_F(BadCommands, inspect_says_where_a_curve_is_drawn) {
  write("rok.csv", "policy,micro,sequences,sequence\n");
  EXPECT_EQ(spillway("inspect " + path("rok.csv")).output,
            "a curve " + path("rok.csv") + "\n  shown by     spillway report RUN --rok " +
                path("rok.csv") + "\n");
}

// Each by its own keys, and with the mistakes that whoever takes it would name.
TEST_F(BadCommands, inspect_knows_machine_files_input_files_and_plans) {
  auto const inspect = [&](std::string const& name) {
    return spillway("inspect " + path(name)).output;
  };
  write("machine.yaml",
        "# One of two\nmemory: {device: 24GiB, host: 1TiB}\nranks: 2\n"
        "target: sm_86\nmatmul_gflops: {bf16: 44000, fp32: 21000}\n");
  EXPECT_EQ(inspect("machine.yaml"),
            "machine file " + path("machine.yaml") +
                "\n  is           One of two\n"
                "  computes     on a device of target sm_86, 2 ranks a node\n"
                "  has          24 GiB on each rank's device, 1 TiB of main memory\n"
                "  products     44000 GFLOP/s in bf16, 21000 GFLOP/s in fp32\n"
                "  used by      spillway plan INPUT --machine " +
                path("machine.yaml") + "\n");
  EXPECT_NE(inspect("job.yaml").find("\n  used by      spillway train " + path("job.yaml") + "\n"),
            std::string::npos);
  write("plan.yml", "activations: keep\nprefetch: 2\n");
  EXPECT_NE(inspect("plan.yml").find("\n  prefetch          2\n"), std::string::npos);
  write("machine.yaml", "ranks: 2\nmemory_gpbs: 1\ntarget: host\n");
  EXPECT_TRUE(fails_with(2, "memory_gpbs: unknown key; did you mean memory_gbps?",
                         spillway("inspect " + path("machine.yaml"))));
  write("other.yaml", "a: 1\nb: 2\n");
  EXPECT_TRUE(fails_with(2, "is no plan, no machine file and no input file",
                         spillway("inspect " + path("other.yaml"))));
}

TEST_F(BadCommands, rok_measures_nothing_before_it_knows_where_to_write) {
  auto const rok = "rok " + path("job.yaml") + " -o ";
  EXPECT_TRUE(fails_with(2, "none.yaml", spillway("rok " + path("none.yaml"))));
  EXPECT_TRUE(fails_with(2, "none/rok.csv: cannot be", spillway(rok + path("none/rok.csv"))));
  EXPECT_TRUE(fails_with(2, "is a directory", spillway(rok + path("nvme"))));
  EXPECT_TRUE(fails_with(2, "rok.csv: is for the table",
                         spillway(rok + path("rok.csv") + " --svg " + path("rok.csv"))));
  EXPECT_TRUE(fails_with(2, "model.vocab",
                         spillway(rok + path("rok.csv") + " data.train=none model.vocab=0")));
  auto const two = run_command(spillway_command(kTwoRanks) + " " + rok + path("rok.csv"));
  EXPECT_TRUE(fails_with(2, "without mpirun", two));
  EXPECT_FALSE(std::filesystem::exists(path("rok.csv")));
}

TEST_F(BadCommands, rok_keeps_what_it_measured_when_storage_fails) {
  auto const outcome = spillway("rok " + path("job.yaml") + " --micro 1 -o " + path("rok.csv") +
                                " memory.nvme.path=" + path("nvme") +
                                " memory.nvme.size=1GiB debug.fault=storage-write:2");
  EXPECT_EQ(outcome.status, 4) << outcome.output;
  EXPECT_NE(read("rok.csv").find("\nkeep,1,"), std::string::npos) << read("rok.csv");
  EXPECT_EQ(read("rok.csv").find("\nnvme,1,"), std::string::npos);
}

// The same words come from the backend and the devices that runs have.
TEST_F(BadCommands, doctor_says_what_a_run_would_use) {
  ASSERT_EQ(train(spilling() + "run.steps=1").status, 0);
  auto const summary = nlohmann::json::parse(read("run/summary.json"));
  auto const environment = nlohmann::json::parse(read("run/environment.json"));
  auto const doctor = spillway("doctor " + path("nvme"));
  EXPECT_EQ(doctor.status, 0);
  auto const says = [&](std::string const& what, nlohmann::json const& value) {
    return doctor.output.find("\n" + what + value.get<std::string>()) != std::string::npos;
  };
  EXPECT_TRUE(says("spilling there      ", summary.at("spill").at("backend"))) << doctor.output;
  EXPECT_TRUE(says("devices             ", environment.at("devices"))) << doctor.output;
  auto const here =
      run_command("cd " + path("nvme") + " && " + spillway_command(kAlone) + " doctor");
  EXPECT_EQ(here.status, 0) << here.output;
  EXPECT_NE(here.output.find("\ndirectory           . ("), std::string::npos) << here.output;
  EXPECT_NE(here.output.find("\n  writable          yes\n"), std::string::npos) << here.output;
  std::filesystem::create_directory(path("more"));
  auto const both = spillway("doctor " + path("nvme") + " " + path("more"));
  auto const said = std::regex_replace(both.output, std::regex("\\s+"), " ");
  for (auto const& line : {" directory " + path("nvme") + " (", " directory " + path("more") + " (",
                           " -> " + path("nvme") + " and " + path("more") + " are on one drive",
                           std::string(" page cache ")})
    EXPECT_NE(said.find(line), std::string::npos) << line << both.output;
}

TEST_F(BadCommands, doctor_ends_with_2_where_one_of_its_directories_takes_no_spill_file) {
  for (auto const& where : {path("none"), path("nvme") + " " + path("none"), path("job.yaml")}) {
    auto const nowhere = spillway("doctor " + where);
    EXPECT_EQ(nowhere.status, 2) << nowhere.output;
    for (auto const* words : {"\n  writable          no: ", "\nspilling there      no: "})
      EXPECT_NE(nowhere.output.find(words), std::string::npos) << words << nowhere.output;
  }
}

TEST_F(BadCommands, plan_names_what_a_machine_cannot_be) {
  auto const plan = "plan " + path("job.yaml") + " --machine " + path("m.yaml");
  auto const expect_refused = [&](std::string const& machine, std::string const& text) {
    write("m.yaml", machine);
    EXPECT_TRUE(fails_with(2, path("m.yaml") + text, spillway(plan)));
  };
  std::string const rates = "matmul_gflops: {fp32: 100}\nmemory_gbps: 10\n";
  expect_refused("memory_gbps: -1\n", ":1: memory_gbps: -1 is out of bounds");
  expect_refused("memory_gbps: 0\n", ":1: memory_gbps: 0 is out of bounds");
  expect_refused("memory_gbps: fast\n", ":1: memory_gbps: expected a number");
  expect_refused("memory_gpbs: 1\n", ":1: memory_gpbs: unknown key; did you mean memory_gbps?");
  expect_refused("ranks: 1\ncores: 0\n", ":2: cores: expected a map");
  expect_refused("cores: {all: 0}\n", ":1: cores.all: 0 is out of bounds");
  expect_refused("cores: {all: 2, compute: 4}\n", ":1: cores.compute: 4 of 2");
  expect_refused("memory: [1, 2]\n", ":1: memory: expected a map");
  expect_refused("{ no YAML\n", ":");
  expect_refused("ranks: 1\n", ": matmul_gflops.fp32: not known");
  expect_refused("matmul_gflops: {fp32: 100}\n", ": memory_gbps: not known");
  expect_refused(rates + "memory: {nvme: 1TB}\n", ": nvme.write_gbps: not known");
  expect_refused("", "");
  write("m.yaml", rates + "memory: {host: 16GiB}\n");
  EXPECT_EQ(spillway(plan).status, 0);
}

TEST_F(BadCommands, generate_and_eval_want_a_checkpoint_of_the_same_model) {
  ASSERT_EQ(train("run.steps=1").status, 0);
  auto const generate = "generate --prompt a --checkpoint ";
  EXPECT_TRUE(fails_with(2, "none", spillway(generate + path("none"))));
  EXPECT_TRUE(fails_with(2, "tokens.h5", spillway(generate + path("tokens.h5"))));

  auto const eval = "eval " + path("job.yaml") + " data.valid=" + path("tokens.h5");
  auto const checkpoint = " --checkpoint " + path("run/step-1");
  EXPECT_EQ(spillway(eval + checkpoint).status, 0);
  EXPECT_TRUE(fails_with(2, "none", spillway(eval + " --checkpoint " + path("none"))));
  EXPECT_TRUE(fails_with(2, "model.heads is 2 there, 4 here",
                         spillway(eval + checkpoint + " model.heads=4")));
  EXPECT_TRUE(fails_with(2, "data.valid", spillway("eval " + path("job.yaml") + checkpoint)));
}

TEST_F(BadCommands, a_run_directory_stands_for_its_newest_checkpoint) {
  ASSERT_EQ(train("run.checkpoint.every=2").status, 0);
  auto const same = [&](std::string const& command) {
    auto const of_run = spillway(fmt::format(fmt::runtime(command), path("run")));
    auto const of_step = spillway(fmt::format(fmt::runtime(command), path("run/step-4")));
    EXPECT_EQ(of_run.status, 0) << of_run.output;
    EXPECT_EQ(of_run.output, of_step.output);
  };
  same("generate --prompt a --tokens 3 --checkpoint {}");
  EXPECT_EQ(spillway("inspect " + path("run/step-4")).status, 0);
  auto const eval =
      fmt::format("eval {} data.valid={} --checkpoint ", path("job.yaml"), path("tokens.h5"));
  auto const evaluated = spillway(eval + path("run"));
  EXPECT_NE(evaluated.output.find("run/step-4 of step 4)"), std::string::npos) << evaluated.output;
  EXPECT_EQ(spillway(fmt::format("export {} -o {}", path("run"), path("out"))).status, 0);
  auto const again = train("run.steps=1 run.dir=" + path("again") + " run.init=" + path("run"));
  EXPECT_EQ(again.status, 0) << again.output;
  fs::remove(m_dir / "run/latest");
  EXPECT_TRUE(fails_with(2, "run", spillway("generate --prompt a --checkpoint " + path("run"))));
}

TEST_F(BadCommands, eval_says_how_much_it_reads_and_ends_where_it_is_told) {
  ASSERT_EQ(train("run.steps=1").status, 0);
  auto const eval = fmt::format("eval {} data.valid={} --checkpoint {} ", path("job.yaml"),
                                path("tokens.h5"), path("run"));
  // 20,000 tokens are 312 windows of 64, in micro-batches of 4.
  auto const all = spillway(eval);
  EXPECT_EQ(all.status, 0) << all.output;
  for (auto const* words : {"eval: 312 sequences in 78 batches", "  tokens 19968  targets 19968  ",
                            "info: data.valid: the last 31 of 20000 tokens do not fill"})
    EXPECT_NE(all.output.find(words), std::string::npos) << words << "\n" << all.output;
  // A batch is one of training: 8 sequences.
  auto const some = spillway(eval + "--batches 2");
  EXPECT_EQ(some.status, 0) << some.output;
  EXPECT_NE(some.output.find("  tokens 1024  "), std::string::npos) << some.output;
  EXPECT_EQ(some.output.find("do not fill"), std::string::npos) << some.output;
  EXPECT_NE(spillway(eval + "--batches 1000000").output.find("  tokens 19968  "),
            std::string::npos);
  for (auto const* wrong : {"0", "-1", "many"})
    EXPECT_EQ(spillway(eval + "--batches " + wrong).status, 2) << wrong;
}

// Nothing is asked of the end of a document, 40 tokens long, beyond it.
TEST_F(BadCommands, eval_says_how_many_tokens_its_loss_is_the_mean_of) {
  write_token_file(m_dir / "documents.h5", 641, 40);
  ASSERT_EQ(train("run.steps=1").status, 0);
  auto const outcome = spillway(fmt::format("eval {} data.valid={} data.pack=true --checkpoint {}",
                                            path("job.yaml"), path("documents.h5"), path("run")));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("  tokens 640  targets 624  "), std::string::npos)
      << outcome.output;
  EXPECT_EQ(outcome.output.find("do not fill"), std::string::npos) << outcome.output;
}

// Each is the nearest that is none any more.
TEST_F(BadCommands, numbers_that_are_too_small_or_too_large_are_refused) {
  auto const job = path("job.yaml"), checkpoint = path("run");
  for (auto const& command :
       {fmt::format("rok {} --steps 3", job), fmt::format("rok {} --steps 1001", job),
        fmt::format("plan {} --ranks 0", job), fmt::format("plan {} --ranks 1000001", job),
        fmt::format("generate --checkpoint {} --prompt a --tokens 0", checkpoint),
        fmt::format("generate --checkpoint {} --prompt a --tokens 1000000001", checkpoint),
        fmt::format("generate --checkpoint {} --prompt a --top 0", checkpoint),
        fmt::format("eval {} --checkpoint {} --batches 1000000000001", job, checkpoint)}) {
    auto const outcome = spillway(command);
    EXPECT_EQ(outcome.status, 2) << command;
    EXPECT_NE(outcome.output.find("not in range"), std::string::npos) << outcome.output;
  }
}

TEST_F(BadCommands, lists_of_numbers_have_no_empty_place) {
  ASSERT_EQ(train("run.steps=1").status, 0);
  auto const generate = "generate --tokens 1 --checkpoint " + path("run") + " --prompt-ids ";
  EXPECT_EQ(spillway(generate + "1,2").status, 0);
  for (auto const* ids : {"1,,2", "1,2,", ",1", "\"\"", "1,x", "1.5", "1,\" 2\""}) {
    auto const outcome = spillway(generate + ids);
    EXPECT_EQ(outcome.status, 2) << ids;
    EXPECT_NE(outcome.output.find("is no whole number"), std::string::npos) << outcome.output;
  }
  auto const rok = "rok " + path("job.yaml") + " -o " + path("rok.csv") + " --micro ";
  for (auto const* micros : {"1,,2", "0", "1,9999999"}) EXPECT_EQ(spillway(rok + micros).status, 2);
}

}  // namespace
}  // namespace spillway::test::bad_commands_test
