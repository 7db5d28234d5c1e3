// Values that are not finite or that a type cannot hold, and types that models come in.
#include <limits>

#include "io/tensors/convert.hpp"
#include "tests/parity/hugging_face_test.hpp"
#include "tests/support/names_in.hpp"

namespace spillway::test::hugging_face_values_test {
namespace {

class HuggingFaceValues : public HuggingFace {
 protected:
  // A GPT-2 in `model` whose tensor begins with these values.
  void write_with(std::string const& tensor, std::vector<float> const& values) {
    auto const& model = directory_cases().front();
    fs::remove_all(m_dir / "model");
    write_model_directory(m_dir / "model", model);
    auto changed = tensors("model");
    std::memcpy(changed.at(tensor).second.data(), values.data(), values.size() * sizeof(float));
    fs::remove_all(m_dir / "model");
    write_tensors(m_dir / "model", changed);
    std::ofstream(m_dir / "model/config.json") << model.config;
  }
  void expect(int status, std::string const& words, std::string const& command) {
    auto const outcome = run_command(spillway_command(0) + " " + command);
    EXPECT_EQ(outcome.status, status) << outcome.output;
    EXPECT_NE(outcome.output.find(words), outcome.output.npos) << outcome.output;
  }

  static constexpr float kInfinite = std::numeric_limits<float>::infinity();
  std::string const m_tensor = "transformer.h.1.mlp.c_fc.bias";
};

TEST_F(HuggingFaceValues, that_are_not_finite_are_imported_by_no_command) {
  write_with(m_tensor, {1});
  write_input(import("model", "checkpoint"));
  write_with(m_tensor, {std::numeric_limits<float>::quiet_NaN(), -kInfinite, 1});
  auto const said = m_tensor + ": 2 of 52 values are not finite";
  expect(5, said, fmt::format("import {} -o {}", path("model"), path("other")));
  EXPECT_EQ(names_in(m_dir), (std::vector<std::string>{"checkpoint", "in.yaml", "model", "stderr",
                                                       "tokens.h5", "valid.h5"}));
  expect(5, said, fmt::format("train {} run.init={}", path("in.yaml"), path("model")));
}

TEST_F(HuggingFaceValues, that_make_the_loss_infinite_end_eval_and_generate_with_7) {
  write_with("transformer.ln_f.weight", std::vector<float>(24, 3e38F));
  write_input(import("model", "checkpoint"));
  auto const eval = "eval " + path("in.yaml");
  auto const of = [&](char const* name) { return " --checkpoint " + path(name); };
  expect(7, "the loss is not finite", eval + of("checkpoint"));
  write_with(m_tensor, {1});
  import("model", "sound");
  auto const all =
      run_command(fmt::format("{} {}{}{}{} --json 2>{}", spillway_command(0), eval, of("sound"),
                              of("checkpoint"), of("sound"), path("stderr")));
  EXPECT_EQ(all.status, 7);
  auto const rows = nlohmann::json::parse(all.output).at("checkpoints");
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_TRUE(rows[0]["loss"].is_number());
  EXPECT_TRUE(rows[1]["loss"].is_null() && rows[1]["texts"][0]["perplexity"].is_null());
  EXPECT_EQ(rows[2], rows[0]);
  expect(7, "logits are not finite",
         fmt::format("generate --checkpoint {} --prompt-ids 5", path("checkpoint")));
}

TEST_F(HuggingFaceValues, that_a_type_cannot_hold_are_exported_in_no_such_type) {
  write_with(m_tensor, {65520, -1e30F, 65504, 1e-9F});
  import("model", "checkpoint");
  auto const to = [&](std::string const& type) {
    return fmt::format("export {} -o {} --dtype {}", path("checkpoint"), path(type), type);
  };
  expect(2, m_tensor + ": 2 of 52 values are too large for F16; give --dtype bf16 or f32",
         to("f16"));
  EXPECT_FALSE(fs::exists(m_dir / "f16"));
  expect(0, "tensors", to("bf16"));
  write_with(m_tensor, {3.4e38F});
  fs::remove_all(m_dir / "checkpoint");
  fs::remove_all(m_dir / "bf16");
  import("model", "checkpoint");
  expect(2, "1 of 52 values are too large for BF16; give --dtype f32", to("bf16"));
}

TEST_F(HuggingFaceValues, that_become_0_are_counted) {
  write_with(m_tensor, {1e-9F, -1e-9F, 0});
  import("model", "checkpoint");
  expect(0, "values became 0, for which f16 has no smaller ones",
         fmt::format("export {} -o {} --dtype f16", path("checkpoint"), path("f16")));
}

// transformers rounds all tensors to the type that config.json says.
TEST_F(HuggingFaceValues, are_rounded_by_no_type_that_export_says) {
  auto mixed = directory_cases()[3];  // bf16 and norms of fp32
  auto const exported = [&](char const* key, char const* type) {
    auto config = nlohmann::json::parse(mixed.config);
    if (key != nullptr) config[key] = type;
    auto const model =
        DirectoryCase{mixed.name, config.dump(), mixed.type, 1 << 30, mixed.exception};
    for (auto const* name : {"model", "checkpoint", "back"}) fs::remove_all(m_dir / name);
    write_model_directory(m_dir / "model", model);
    import("model", "checkpoint");
    export_to("checkpoint", "back");
    EXPECT_EQ(tensors("back"), tensors("model"));
    return nlohmann::json::parse(read("back/config.json"));
  };
  EXPECT_EQ(exported("torch_dtype", "bfloat16")["torch_dtype"], "float32");
  EXPECT_EQ(exported("dtype", "bfloat16")["dtype"], "float32");
  EXPECT_EQ(exported(nullptr, nullptr)["torch_dtype"], "float32");
  mixed.exception = "";
  EXPECT_EQ(exported("dtype", "bfloat16")["dtype"], "bfloat16");
  EXPECT_EQ(exported("dtype", "float32")["dtype"], "float32");  // as it was computed in
  EXPECT_EQ(exported("dtype", "float16")["dtype"], "bfloat16");
  export_to("checkpoint", "half", "--dtype f16");
  EXPECT_EQ(nlohmann::json::parse(read("half/config.json"))["dtype"], "float16");
}

TEST_F(HuggingFaceValues, have_the_files_of_tokenizers_and_processors_beside_them_again) {
  write_model_directory(m_dir / "model", directory_cases().front());
  for (auto const* name : {"tekken.json", "vocab.bpe", "encoder.json", "preprocessor_config.json",
                           "processor_config.json", "chat_template.jinja", "tokenizer.model.v3",
                           "generation_config.json", "sentencepiece.bpe.model"})
    std::ofstream(m_dir / "model" / name) << "{}";
  auto const before = names_in(m_dir / "model");
  import("model", "checkpoint");
  export_to("checkpoint", "back");
  EXPECT_EQ(names_in(m_dir / "back"), before);
}

}  // namespace
}  // namespace spillway::test::hugging_face_values_test
