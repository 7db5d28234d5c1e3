// Models of all architectures through the commands: what comes back is what went in, whatever the
// types and the number of files, and what was trained between goes the same way.
#include "tests/parity/hugging_face_test.hpp"
#include "tests/support/names_in.hpp"

namespace spillway::test::hugging_face_test {
namespace {

class HuggingFaceModel : public HuggingFace, public testing::WithParamInterface<DirectoryCase> {};

TEST_P(HuggingFaceModel, comes_back_as_it_went_and_trains_between) {
  auto const& model = GetParam();
  write_model_directory(m_dir / "model", model);
  auto const printed = import("model", "checkpoint");
  export_to("checkpoint", "back");
  auto const before = tensors("model");
  EXPECT_EQ(tensors("back"), before);
  EXPECT_EQ(read("back/tokenizer.json"), read("model/tokenizer.json"));

  write_input(printed);
  run("train " + path("in.yaml"));
  EXPECT_EQ(read("run/step-2/huggingface/config.json"), model.config);
  export_to("run/step-2", "trained");
  auto const after = tensors("trained");
  ASSERT_EQ(after.size(), before.size());
  std::size_t changed = 0;
  for (auto const& [name, tensor] : before) {
    ASSERT_TRUE(after.contains(name)) << name;
    EXPECT_EQ(after.at(name).first, tensor.first) << name;
    changed += after.at(name).second != tensor.second ? 1 : 0;
  }
  EXPECT_GT(2 * changed, before.size());
  EXPECT_EQ(read("trained/tokenizer.json"), read("model/tokenizer.json"));
}

INSTANTIATE_TEST_SUITE_P(Of, HuggingFaceModel, testing::ValuesIn(directory_cases()),
                         [](auto const& info) { return info.param.name; });

TEST_F(HuggingFace, a_checkpoint_is_one_for_every_command_and_a_run_hands_on_what_it_carries) {
  write_model_directory(m_dir / "model", directory_cases().front());
  write_input(import("model", "checkpoint"));
  EXPECT_NE(run("inspect " + path("checkpoint")).output.find("huggingface"), std::string::npos);
  run(fmt::format("eval {} --checkpoint {}", path("in.yaml"), path("checkpoint")));
  auto const carried = names_in(m_dir / "checkpoint/huggingface");
  EXPECT_EQ(carried,
            (std::vector<std::string>{"config.json", "tensor-types.json", "tokenizer.json"}));
  for (auto const* words :
       {"run.steps=2", "run.steps=3", "run.steps=4 run.checkpoint.resume=weights"})
    run(fmt::format("train {} {}", path("in.yaml"), words));
  EXPECT_EQ(names_in(m_dir / "run/step-4/huggingface"), carried);
  run(fmt::format("train {} run.init=none run.checkpoint.resume=never", path("in.yaml")));
  EXPECT_FALSE(fs::exists(m_dir / "run/step-2/huggingface"));
}

TEST_F(HuggingFace, a_directory_that_an_input_names_is_as_good_as_its_checkpoint) {
  write_model_directory(m_dir / "model", directory_cases()[2]);
  write_input(import("model", "checkpoint"));
  run("train " + path("in.yaml"));
  write_input(fmt::format("model: {{import: {}}}\n", path("model")));
  run(fmt::format("train {} run.init=none run.dir={}", path("in.yaml"), path("named")));
  export_to("run/step-2", "from-checkpoint");
  export_to("named/step-2", "from-directory");
  EXPECT_EQ(tensors("from-directory"), tensors("from-checkpoint"));
  EXPECT_EQ(names_in(m_dir / "named/step-2/huggingface"),
            names_in(m_dir / "checkpoint/huggingface"));
}

// Returns the words of `eval` up to where the weights were.
std::string loss_in(Outcome const& outcome) {
  auto const begin = outcome.output.find("loss ");
  return outcome.output.substr(begin, outcome.output.find("  tokens", begin) - begin);
}

TEST_F(HuggingFace, adapters_and_their_base_are_found_wherever_they_lie) {
  write_model_directory(m_dir / "model", directory_cases()[2]);
  auto const input_with = [&](char const* model) {
    write_input(fmt::format("model: {{import: {}, lora: {{rank: 2}}}}\n", path(model)));
  };
  input_with("model");
  run("train " + path("in.yaml") + " run.init=none");
  export_to("run/step-2", "adapter");
  auto const eval = [&](char const* checkpoint, std::string const& more = "") {
    return loss_in(run(fmt::format("eval {} --checkpoint {} run.init=none {}", path("in.yaml"),
                                   path(checkpoint), more)));
  };
  auto const loss = eval("run");
  EXPECT_FALSE(loss.empty());
  EXPECT_EQ(eval("adapter"), loss);
  auto const about = run("inspect " + path("adapter")).output;
  EXPECT_NE(about.find("  rank        2\n"), about.npos) << about;
  EXPECT_NE(about.find("  targets     q, v\n"), about.npos) << about;

  fs::rename(m_dir / "model", m_dir / "moved");
  auto const generate =
      fmt::format("generate {} --prompt-ids 5,6 --tokens 4 --temperature 0 ", path("run"));
  auto const refused = run_command(spillway_command(0) + " " + generate);
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.output.find("say where that is now: --base DIR"), std::string::npos)
      << refused.output;
  auto const base = "--base " + path("moved");
  auto const made = run(generate + base).output;
  EXPECT_EQ(run(fmt::format("generate {} --prompt-ids 5,6 --tokens 4 --temperature 0 {}",
                            path("adapter"), base))
                .output,
            made);
  export_to("run", "merged", "--merged " + base);
  export_to("run", "again", base);
  EXPECT_NE(read("again/adapter_config.json").find(path("moved")), std::string::npos);
  input_with("moved");
  EXPECT_EQ(eval("run"), loss);
  EXPECT_EQ(eval("adapter", base), loss);
  run("train " + path("in.yaml") + " run.init=none run.steps=3");
  for (auto const* name : {"run", "run/step-3"}) {
    auto const text = run("inspect " + path(name)).output;
    EXPECT_NE(text.find("adapters (LoRA) of rank 2, alpha 4, of q, v"), text.npos) << text;
    EXPECT_NE(text.find(path("moved")), text.npos) << text;
  }
}

TEST_F(HuggingFace, adapters_are_used_beside_their_base_alone_and_in_any_bits) {
  write_model_directory(m_dir / "model", directory_cases()[2]);
  import("model", "checkpoint");
  write_input(
      fmt::format("model: {{import: {}, lora: {{rank: 2}}, quantize: nf4}}\n", path("model")));
  run("train " + path("in.yaml") + " run.init=none optim.lr=0.1");
  export_to("run", "adapter");
  auto const eval = [&](char const* checkpoint, std::string const& more = "") {
    return loss_in(run(fmt::format("eval {} --checkpoint {} run.init=none {}", path("in.yaml"),
                                   path(checkpoint), more)));
  };
  auto const in_4_bits = eval("run"), as_it_was = eval("run", "model.quantize=none");
  EXPECT_NE(in_4_bits, as_it_was);
  EXPECT_EQ(eval("adapter"), in_4_bits);
  EXPECT_EQ(eval("adapter", "model.quantize=none"), as_it_was);
  for (auto const* quantize : {"model.quantize=none", "model.quantize=nf4"}) {
    auto const before = eval("checkpoint", quantize);
    EXPECT_EQ(eval("model", quantize), before);
    EXPECT_NE(eval("run", quantize), before);
  }
  EXPECT_EQ(eval("checkpoint", "model.quantize=none"),
            eval("checkpoint", "model.quantize=none model.lora=none"));

  auto const generate = [&](char const* checkpoint, std::string const& more = "") {
    return run(fmt::format("generate {} --prompt-ids 5,6 --tokens 9 --temperature 0 {}",
                           path(checkpoint), more))
        .output;
  };
  EXPECT_EQ(generate("adapter", "model.quantize=nf4"), generate("run"));
  EXPECT_EQ(generate("adapter"), generate("run", "model.quantize=none"));
  EXPECT_EQ(generate("model", "model.quantize=int8"),
            generate("checkpoint", "model.quantize=int8"));
}

TEST_F(HuggingFace, a_plan_begins_with_what_a_run_may_begin_with) {
  write_model_directory(m_dir / "model", directory_cases()[2]);
  write_input("model: {family: llama, layers: 1, hidden: 32, heads: 2, vocab: 400}\n");
  for (auto const* command : {"train", "plan"}) {
    auto const outcome = run_command(fmt::format("{} {} {} run.init={}", spillway_command(0),
                                                 command, path("in.yaml"), path("model")));
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_NE(outcome.output.find("is of another model"), std::string::npos) << outcome.output;
  }
  EXPECT_FALSE(fs::exists(m_dir / "run")) << "a start that is refused leaves nothing";
}

TEST_F(HuggingFace, a_start_without_a_base_to_quantize_leaves_a_run_as_it_was) {
  write_input("model: {family: llama, layers: 1, hidden: 32, heads: 2, vocab: 400}\n");
  auto const train = "train " + path("in.yaml") + " run.init=none ";
  run(train + "run.steps=0");
  auto const config = read("run/config.yaml");
  auto const quantized = train +
                         "\"model.freeze=['*self_attn*']\" model.quantize=nf4 "
                         "run.checkpoint.resume=weights run.dir=";
  for (auto const* name : {"run", "other"}) {
    auto const anew = std::string(name) == "run" ? "" : " run.checkpoint.resume=never";
    auto const outcome = run_command(spillway_command(0) + " " + quantized + path(name) + anew);
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_NE(outcome.output.find("model.quantize: frozen weights must stay"), std::string::npos)
        << outcome.output;
  }
  EXPECT_EQ(read("run/config.yaml"), config);
  EXPECT_FALSE(fs::exists(m_dir / "other"));
}

TEST_F(HuggingFace, import_prints_an_input_file_that_trains_on) {
  write_model_directory(m_dir / "model", directory_cases().front());
  std::ofstream(m_dir / "printed.yaml") << import("model", "checkpoint");
  write_token_file(m_dir / "tokens.h5", 4000);
  auto const outcome =
      run(fmt::format("train {} data.train={} run.steps=1 run.dir={} batch.sequences=2 "
                      "memory.device=64MiB run.threads=1 debug.machine={}",
                      path("printed.yaml"), path("tokens.h5"), path("run"), machine_file()));
  EXPECT_NE(outcome.output.find("weights from " + path("checkpoint")), std::string::npos)
      << outcome.output;
  EXPECT_EQ(outcome.output.find("optim.lr"), std::string::npos) << outcome.output;
}

TEST_F(HuggingFace, an_id_that_a_directory_does_not_tell_is_asked_for) {
  write_model_directory(m_dir / "model", directory_cases()[1]);
  fs::remove(m_dir / "model/tokenizer.json");
  write_input(import("model", "checkpoint"));
  auto const eval = fmt::format("eval {} --checkpoint {}", path("in.yaml"), path("checkpoint"));
  auto const generate =
      fmt::format("generate --checkpoint {} --prompt-ids 5,6", path("checkpoint"));
  auto const train = "train " + path("in.yaml"), from_directory = " run.init=" + path("model");
  for (auto const& words : {train, train + from_directory, eval, generate}) {
    auto const outcome = run_command(spillway_command(0) + " " + words);
    EXPECT_EQ(outcome.status, 2) << words;
    EXPECT_NE(outcome.output.find("data.mask_id: auto is not for weights that were imported"),
              std::string::npos)
        << words << outcome.output;
  }
  for (auto const& words : {train, eval, generate}) run(words + " data.mask_id=6");
  run(train + " run.steps=3 data.mask_id=6");  // goes on, whatever run.init names
}

TEST_F(HuggingFace, a_model_of_our_own_is_exported_as_fp32_and_imported_again) {
  auto const& model = directory_cases().front();
  write_model_directory(m_dir / "model", model);
  write_input(import("model", "other"));
  run("train " + path("in.yaml") + " run.init=none");
  EXPECT_FALSE(fs::exists(m_dir / "run/step-2/huggingface"));
  export_to("run/step-2", "own");
  for (auto const& [name, tensor] : tensors("own"))
    EXPECT_EQ(tensor.first.type, ElementType::f32) << name;
  EXPECT_EQ(names_in(m_dir / "own"),
            (std::vector<std::string>{"config.json", "model.safetensors"}));
  EXPECT_NE(read("own/config.json").find("\"eos_token_id\": 7"), std::string::npos);
  import("own", "checkpoint");
  export_to("checkpoint", "back");
  EXPECT_EQ(tensors("back"), tensors("own"));
}

TEST_F(HuggingFace, a_type_that_is_asked_for_is_that_of_all_tensors) {
  write_model_directory(m_dir / "model", directory_cases()[3]);
  import("model", "checkpoint");
  for (auto const& [word, type] :
       {std::pair("f32", ElementType::f32), std::pair("bf16", ElementType::bf16),
        std::pair("f16", ElementType::f16)}) {
    export_to("checkpoint", word, std::string("--dtype ") + word);
    for (auto const& [name, tensor] : tensors(word)) EXPECT_EQ(tensor.first.type, type) << name;
  }
}

TEST_F(HuggingFace, a_head_that_differs_unties_a_model) {
  write_model_directory(m_dir / "model", directory_cases()[4]);
  auto changed = tensors("model");
  auto head = changed.at("model.embed_tokens.weight");
  head.first.name = "lm_head.weight";
  for (bool const differs : {false, true}) {
    auto const name = differs ? "untied" : "tied";
    if (differs) head.second.back() ^= 1;
    changed["lm_head.weight"] = head;
    write_tensors(m_dir / name, changed, 1'000'000);
    fs::copy_file(m_dir / "model/config.json", m_dir / name / "config.json");
    auto const printed = import(name, std::string(name) + "-checkpoint");
    EXPECT_NE(printed.find(differs ? "tied: false" : "tied: true"), std::string::npos) << printed;
    export_to(std::string(name) + "-checkpoint", std::string(name) + "-back");
    EXPECT_EQ(tensors(std::string(name) + "-back"), differs ? changed : tensors("model"));
  }
}

}  // namespace
}  // namespace spillway::test::hugging_face_test
