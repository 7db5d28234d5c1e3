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
