// Tokenizers through the commands: tokenize, train, generate in text, import and export.
#include <iterator>

#include "tests/parity/hugging_face_test.hpp"

namespace spillway::test::tokenizer_commands_test {
namespace {

class TokenizerCommands : public HuggingFace {
 protected:
  // A model of gpt whose tokenizer has a token for each letter of ASCII, and three for pairs.
  TokenizerCommands() {
    write_model_directory(m_dir / "model", directory_cases().front());
    nlohmann::json vocab = {{"Ġ", 0}, {"Ċ", 1}};
    for (char letter = '!'; letter <= '~'; ++letter) vocab[std::string(1, letter)] = letter;
    vocab.update({{"th", 200}, {"the", 201}, {"Ġthe", 202}});
    m_tokenizer = {
        {"added_tokens", {{{"id", 300}, {"content", "<end>"}, {"special", true}}}},
        {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}}},
        {"decoder", {{"type", "ByteLevel"}}},
        {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", {"t h", "th e", "Ġ the"}}}}};
    write("model/tokenizer.json", m_tokenizer.dump());
    write("model/tokenizer_config.json", R"({"eos_token": "<end>"})");
  }

  void write(std::string const& name, std::string const& text) const {
    fs::create_directories((m_dir / name).parent_path());
    std::ofstream(m_dir / name, std::ios::binary) << text;
  }

  // Another tokenizer, in a folder of its own: a pair less is joined.
  void write_other() const {
    auto other = m_tokenizer;
    other["model"]["merges"].erase(2);
    write("other/tokenizer.json", other.dump());
  }

  void tokenize(std::string const& tokenizer, std::string const& to, int times = 400) const {
    std::string text;
    while (times-- > 0) text += "the cat and the other hat; ";
    write(to + ".txt", text);
    run(fmt::format("tokenize --tokenizer {} --force -o {} {}", path(tokenizer), path(to),
                    path(to + ".txt")));
  }

  std::string train_words(std::string const& more) const {
    return fmt::format("train {} run.dir={} {}", path("in.yaml"), path("run"), more);
  }
  // Gives what is said.
  std::string refused(std::string const& words) const {
    auto const outcome = run_command(spillway_command(0) + " " + words);
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    return outcome.output;
  }

  nlohmann::json m_tokenizer;
};

TEST_F(TokenizerCommands, a_text_is_tokenized_trained_on_and_gone_on_with) {
  write_input(import("model", "checkpoint"));
  tokenize("model", "tokens.h5");
  tokenize("model", "valid.h5", 399);
  EXPECT_NE(run("inspect " + path("tokens.h5")).output.find("(model, checksum "),
            std::string::npos);
  run(train_words(""));
  auto const generate = [&](std::string const& words) {
    return run(fmt::format("generate {} --temperature 0 --tokens 6 {} 2>{}", path("run"), words,
                           path("stderr")))
        .output;
  };
  auto const text = generate("--prompt \"the the\"");
  EXPECT_EQ(text.substr(0, 7), "the the");
  // The same model says the same in ids.
  std::istringstream words(generate("--prompt-ids 201,202"));
  std::vector<int> const ids{std::istream_iterator<int>(words), {}};
  ASSERT_GE(ids.size(), 3u);
  std::string expected;
  for (auto const id : ids) {
    if (id >= 200 && id <= 202) expected += id == 200 ? "th" : id == 201 ? "the" : " the";
    if (id < 2) expected += id == 0 ? " " : "\n";
    if (id >= '!' && id <= '~') expected += static_cast<char>(id);
  }
  EXPECT_EQ(text, expected + "\n");
  export_to("run", "back");
  EXPECT_EQ(read("back/tokenizer.json"), read("model/tokenizer.json"));
}

TEST_F(TokenizerCommands, tokens_of_another_tokenizer_are_refused_by_name) {
  write_other();
  write_input(import("model", "checkpoint"));
  tokenize("other", "tokens.h5");
  tokenize("other", "valid.h5", 399);
  auto const imported = refused(train_words(""));
  EXPECT_NE(imported.find(path("tokens.h5") + " has tokens of 'other' (checksum "),
            std::string::npos)
      << imported;
  EXPECT_NE(imported.find(path("checkpoint") + " those of 'tokenizer.json'"), std::string::npos);

  tokenize("model", "tokens.h5");
  auto const valid = refused(train_words(""));
  EXPECT_NE(valid.find("data.valid: " + path("valid.h5") + " has tokens of 'other'"),
            std::string::npos)
      << valid;

  run(train_words("data.valid=none run.init=none"));
  auto const evaluated =
      refused(fmt::format("eval {} --checkpoint {}", path("in.yaml"), path("run")));
  EXPECT_NE(evaluated.find("data.valid: " + path("valid.h5") + " has tokens of 'other'"),
            std::string::npos)
      << evaluated;
  tokenize("other", "tokens.h5");
  auto const resumed = refused(train_words("data.valid=none run.init=none run.steps=4"));
  EXPECT_NE(resumed.find("has tokens of 'other'"), std::string::npos) << resumed;
  EXPECT_NE(resumed.find("those of 'model' (checksum "), std::string::npos) << resumed;
}

TEST_F(TokenizerCommands, a_model_that_carries_none_is_given_its_tokenizer) {
  write_other();
  write_input(import("model", "checkpoint"));
  tokenize("model", "tokens.h5");
  run(train_words("data.valid=none run.init=none"));
  auto const generate = fmt::format("generate {} --prompt the --tokens 2 ", path("run"));
  EXPECT_NE(refused(generate).find("and carries no tokenizer; give --prompt-ids, or --tokenizer"),
            std::string::npos);
  EXPECT_NE(refused(generate + "--tokenizer " + path("other")).find("has tokens of 'model'"),
            std::string::npos);
  EXPECT_EQ(run(generate + "--tokenizer " + path("model")).output.substr(0, 3), "the");
}

}  // namespace
}  // namespace spillway::test::tokenizer_commands_test
