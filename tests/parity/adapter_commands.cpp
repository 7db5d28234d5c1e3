// Adapters and their bases through the commands, wherever these lie and in whatever bits they are.
#include "tests/parity/hugging_face_test.hpp"

namespace spillway::test::adapter_commands_test {
namespace {

// Returns the words of `eval` up to where the weights were.
std::string loss_in(Outcome const& outcome) {
  auto const begin = outcome.output.find("loss ");
  return outcome.output.substr(begin, outcome.output.find("  tokens", begin) - begin);
}

class AdapterCommands : public HuggingFace {
 protected:
  AdapterCommands() { write_model_directory(m_dir / "model", directory_cases()[2]); }

  void input_with(std::string const& model, std::string const& more = ", lora: {rank: 2}") const {
    write_input(fmt::format("model: {{import: {}{}}}\n", path(model), more));
  }
  void train(std::string const& more = "") const {
    run("train " + path("in.yaml") + " run.init=none " + more);
  }
  std::string eval(std::string const& checkpoint, std::string const& more = "") const {
    return loss_in(run(fmt::format("eval {} --checkpoint {} run.init=none {}", path("in.yaml"),
                                   path(checkpoint), more)));
  }
  std::string generate(std::string const& checkpoint, std::string const& more = "") const {
    return run(fmt::format("generate {} --prompt-ids 5,6 --tokens 9 --temperature 0 {}",
                           path(checkpoint), more))
        .output;
  }
  void expect_refused(std::string const& words, std::string const& why) const {
    auto const outcome = run_command(spillway_command(0) + " " + words);
    EXPECT_EQ(outcome.status, 2) << words << ": " << outcome.output;
    EXPECT_NE(outcome.output.find(why), std::string::npos) << outcome.output;
  }
};

TEST_F(AdapterCommands, find_adapters_and_their_base_wherever_they_lie) {
  input_with("model");
  train();
  export_to("run/step-2", "adapter");
  auto const loss = eval("run"), made = generate("run");
  EXPECT_FALSE(loss.empty());
  EXPECT_EQ(eval("adapter"), loss);
  auto const about = run("inspect " + path("adapter")).output;
  EXPECT_NE(about.find("  rank        2\n"), about.npos) << about;
  EXPECT_NE(about.find("  targets     q, v\n"), about.npos) << about;

  fs::rename(m_dir / "model", m_dir / "moved");
  expect_refused("generate " + path("run") + " --prompt-ids 5",
                 "say where that is now: --base DIR");
  auto const base = "--base " + path("moved");
  EXPECT_EQ(generate("run", base), made);
  EXPECT_EQ(generate("adapter", base), made);
  export_to("run", "merged", "--merged " + base);
  export_to("run", "again", base);
  EXPECT_NE(read("again/adapter_config.json").find(path("moved")), std::string::npos);
  input_with("moved");
  EXPECT_EQ(eval("run"), loss);
  EXPECT_EQ(eval("adapter", base), loss);
  train("run.steps=3");
  for (auto const* name : {"run", "run/step-3"}) {
    auto const text = run("inspect " + path(name)).output;
    EXPECT_NE(text.find("adapters (LoRA) of rank 2, alpha 4, of q, v"), text.npos) << text;
    EXPECT_NE(text.find(path("moved")), text.npos) << text;
  }
}

// What names adapters alone is not enough where these name a base that is gone.
TEST_F(AdapterCommands, take_a_base_that_has_moved_as_the_input_or_an_option_says) {
  input_with("model");
  train();
  export_to("run", "adapter");
  auto const loss = eval("adapter");
  fs::rename(m_dir / "model", m_dir / "moved");
  auto const base = "--base " + path("moved");
  input_with("adapter", "");
  EXPECT_EQ(eval("adapter", base), loss);
  expect_refused("train " + path("in.yaml"),
                 "for train and plan model.import=DIR beside run.init=" + path("adapter") +
                     " and its model.lora");
  input_with("moved");
  auto const init = run(fmt::format("train {} run.init={} run.dir={}", path("in.yaml"),
                                    path("adapter"), path("next")))
                        .output;
  auto const warning = fmt::format("{}: its base {} is not there, and {} is taken for it",
                                   path("adapter"), path("model"), path("moved"));
  EXPECT_NE(init.find(warning), init.npos) << init;
  auto const evaluated =
      run(fmt::format("eval {} --checkpoint {}", path("in.yaml"), path("adapter")));
  EXPECT_NE(evaluated.output.find(warning), std::string::npos) << evaluated.output;
}

TEST_F(AdapterCommands, give_a_base_to_those_checkpoints_that_have_one) {
  input_with("model");
  train();
  import("model", "checkpoint");
  fs::rename(m_dir / "model", m_dir / "moved");
  auto const base = " --base " + path("moved"), of_whole = " --checkpoint " + path("moved"),
             of_native = " --checkpoint " + path("checkpoint");
  input_with("moved");
  auto const eval = "eval " + path("in.yaml") + " run.init=none";
  run(eval + of_whole + of_native + " --checkpoint " + path("run") + base);
  expect_refused(eval + of_whole + of_native + base,
                 "--base: each of the checkpoints has no base, but all weights itself");
  for (auto const* name : {"moved", "checkpoint"})
    expect_refused("generate " + path(name) + " --prompt-ids 5" + base,
                   fmt::format("--base: {} has no base, but all weights itself", path(name)));
}

TEST_F(AdapterCommands, export_adapters_of_a_run_that_was_copied_with_its_base) {
  input_with("model");
  train("run.dir=" + path("there/run"));
  fs::rename(m_dir / "model", m_dir / "there/model");
  input_with("there/model");
  fs::create_directories(m_dir / "here");
  train("run.steps=3 run.dir=" + path("there/run"));  // its base is beside it
  fs::rename(m_dir / "there", m_dir / "here/there");
  export_to("here/there/run", "adapter");
  EXPECT_NE(read("adapter/adapter_config.json").find(path("here/there/model")), std::string::npos);
  fs::remove_all(m_dir / "here/there/model");
  auto const gone = run(fmt::format("export {} -o {}", path("here/there/run"), path("gone")));
  EXPECT_NE(gone.output.find("adapter_config.json has the place as it was"), std::string::npos)
      << gone.output;
  EXPECT_NE(read("gone/adapter_config.json").find(path("there/model")), std::string::npos);
}

TEST_F(AdapterCommands, use_adapters_and_their_base_alone_and_in_any_bits) {
  import("model", "checkpoint");
  input_with("model", ", lora: {rank: 2}, quantize: nf4");
  train("optim.lr=0.1");
  export_to("run", "adapter");
  auto const in_4_bits = eval("run"), as_it_was = eval("run", "model.quantize=none");
  EXPECT_NE(in_4_bits, as_it_was);
  EXPECT_EQ(eval("adapter"), in_4_bits);
  EXPECT_EQ(eval("adapter", "model.quantize=none"), as_it_was);
  auto const base_in_4_bits = eval("checkpoint"), base = eval("model", "model.quantize=none");
  EXPECT_EQ(eval("model"), base_in_4_bits);
  EXPECT_NE(in_4_bits, base_in_4_bits);
  EXPECT_NE(as_it_was, base);
  EXPECT_EQ(eval("checkpoint", "model.quantize=none model.lora=none"), base);

  EXPECT_EQ(generate("adapter", "model.quantize=nf4"), generate("run"));
  EXPECT_EQ(generate("adapter"), generate("run", "model.quantize=none"));
  EXPECT_EQ(generate("model", "model.quantize=int8"),
            generate("checkpoint", "model.quantize=int8"));
}

TEST_F(AdapterCommands, leave_a_run_as_it_was_where_there_is_no_base_to_quantize) {
  write_input("model: {family: llama, layers: 1, hidden: 32, heads: 2, vocab: 400}\n");
  train("run.steps=0");
  auto const config = read("run/config.yaml");
  for (auto const* where : {"run", "other run.checkpoint.resume=never"})
    expect_refused(
        "train " + path("in.yaml") +
            " run.init=none \"model.freeze=[model.layers.0.self_attn*]\" model.quantize=nf4 "
            "run.checkpoint.resume=weights run.dir=" +
            path(where),
        "model.quantize: frozen weights must stay");
  EXPECT_EQ(read("run/config.yaml"), config);
  EXPECT_FALSE(fs::exists(m_dir / "other"));
}

}  // namespace
}  // namespace spillway::test::adapter_commands_test
