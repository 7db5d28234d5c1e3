// Tokenizers through the commands: tokenize, train, generate in text, import and export.
#include <iterator>

#include "tests/parity/hugging_face_test.hpp"
#include "tests/support/names_in.hpp"

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

// Messages are put by the template, and the answer alone is printed.
TEST_F(TokenizerCommands, messages_are_answered_as_the_model_has_learnt_them) {
  write("model/chat_template.jinja",
        "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}"
        "{% if add_generation_prompt %}<assistant>{% endif %}");
  import("model", "checkpoint");
  auto const command = fmt::format("generate {} --temperature 0 --tokens 6 ", path("checkpoint"));
  auto const quiet = " 2>" + path("stderr");
  auto const behind = [&](std::string const& text) {
    auto const all = run(command + "--prompt \"" + text + "\"" + quiet).output;
    EXPECT_EQ(all.substr(0, text.size()), text);
    return all.substr(text.size());
  };
  auto const answer = behind("<user>the cat<end><assistant>");
  EXPECT_EQ(run(command + "--chat --prompt \"the cat\"" + quiet).output, answer);
  EXPECT_EQ(run(command + "--chat --system the --prompt \"the cat\"" + quiet).output,
            behind("<system>the<end><user>the cat<end><assistant>"));

  // A file that the model is tested on can be asked.
  write("asked.jsonl", R"({"messages": [{"role": "user", "content": "the cat"},)"
                       R"( {"role": "assistant", "content": "hat"}], "id": 7})"
                       "\n");
  auto const told =
      nlohmann::json::parse(run(command + "--prompts " + path("asked.jsonl") + quiet).output);
  EXPECT_EQ(told["text"].get<std::string>() + "\n", answer);
  EXPECT_EQ(told["id"], 7);

  auto const first = answer.substr(0, answer.size() - 1);
  auto const talk = run_command(fmt::format("printf \"the cat\\n\\nhat\\n\" | {} {} --chat {}",
                                            spillway_command(0), command, quiet));
  EXPECT_EQ(talk.output, answer + behind("<user>the cat<end><assistant>" + first +
                                         "<end><user>hat<end><assistant>"));
}

// Adapters bring a tokenizer and a template of their own, and what they lack is their base's.
TEST_F(TokenizerCommands, adapters_of_peft_keep_what_lies_beside_them) {
  auto const input_with = [&](std::string const& model) {
    write_input(fmt::format("model: {{import: {}}}\n", model));
  };
  input_with(fmt::format("{}, lora: {{rank: 2, targets: [qkv]}}", path("model")));
  run(train_words("run.init=none run.steps=0"));
  export_to("run", "adapter");
  EXPECT_EQ(names_in(m_dir / "adapter"),
            (std::vector<std::string>{"adapter_config.json", "adapter_model.safetensors"}));
  auto const chat = [&](std::string const& checkpoint) {
    return run(fmt::format("generate {} --chat --prompt \"the cat\" --temperature 0 --tokens 6 "
                           "2>{}",
                           path(checkpoint), path("stderr")))
        .output;
  };
  write("adapter/chat_template.jinja", "{{ messages[0].content }} hat");
  auto const with_template = chat("adapter");
  auto own = m_tokenizer;  // whose letters are the other way round
  for (char letter = '!'; letter <= '~'; ++letter)
    own["model"]["vocab"][std::string(1, letter)] = '!' + '~' - letter;
  write("adapter/tokenizer.json", own.dump());
  auto const with_both = chat("adapter");
  EXPECT_NE(with_both, with_template);

  input_with(path("adapter"));
  tokenize("adapter", "tokens.h5");
  tokenize("adapter", "valid.h5", 399);
  fs::remove_all(m_dir / "run");
  run(train_words("run.init=none run.steps=0"));
  EXPECT_EQ(chat("run"), with_both);
  export_to("run", "merged", "--merged");
  EXPECT_EQ(chat("merged"), with_both);
  EXPECT_EQ(read("merged/tokenizer_config.json"), read("model/tokenizer_config.json"));
  export_to("run", "again");
  EXPECT_EQ(names_in(m_dir / "again"), names_in(m_dir / "adapter"));
  EXPECT_EQ(read("again/tokenizer.json"), own.dump());
}

TEST_F(TokenizerCommands, an_answer_ends_where_the_template_ends_it) {
  write("model/chat_template.jinja",
        "{% for m in messages %}{{ m.content }}{% if m.role == 'assistant' %}<turn>{% endif %}"
        "{% endfor %}");
  import("model", "checkpoint");
  auto const command = fmt::format("generate {} --chat --prompt the --temperature 0 --tokens 9 ",
                                   path("checkpoint"));
  auto const quiet = " 2>" + path("stderr");
  auto const whole = run(command + quiet).output;
  // The token that is made fourth becomes the one that ends turns.
  std::istringstream words(
      run(fmt::format("generate {} --prompt-ids 201 --temperature 0 --tokens 4 {}",
                      path("checkpoint"), quiet))
          .output);
  std::vector<int> const ids{std::istream_iterator<int>(words), {}};
  ASSERT_EQ(ids.size(), 5u);
  ASSERT_EQ(std::ranges::count(ids, ids[4]), 1);
  auto ended = m_tokenizer;
  auto& vocab = ended["model"]["vocab"];
  for (auto const& [word, id] : vocab.items())
    if (id == ids[4]) {
      vocab.erase(word);
      break;
    }
  ended["added_tokens"].push_back({{"id", ids[4]}, {"content", "<turn>"}, {"special", false}});
  write("model/tokenizer.json", ended.dump());
  fs::remove_all(path("checkpoint"));
  import("model", "checkpoint");
  auto const answer = run(command + quiet).output;
  EXPECT_EQ(whole.substr(0, answer.size() - 1) + "\n", answer);
  EXPECT_LT(answer.size(), whole.size());
  EXPECT_EQ(answer.find("<turn>"), answer.npos);
}

TEST_F(TokenizerCommands, messages_are_refused_where_the_model_knows_none) {
  import("model", "checkpoint");
  auto const chat = " --chat --prompt the";
  EXPECT_NE(refused("generate " + path("checkpoint") + chat)
                .find("--chat: " + path("checkpoint") +
                      "/huggingface has no chat template (chat_template.jinja, or `chat_template` "
                      "in tokenizer_config.json); --tokenizer names a model's directory with one"),
            std::string::npos);
  write("model/chat_template.jinja", "{% include 'x' %}");
  write("asked.jsonl", R"({"messages": [{"role": "user", "content": "the"}]})"
                       "\n");
  for (auto const& [asks, begin] : {std::pair(" --prompts " + path("asked.jsonl"),
                                              path("asked.jsonl") + ":1: has messages, and "),
                                    std::pair(std::string(chat), std::string("--chat: "))})
    EXPECT_NE(refused("generate " + path("model") + asks)
                  .find(begin + path("model/chat_template.jinja") +
                        ":1: `{% include %}` is not known here"),
              std::string::npos);
  write_model_directory(m_dir / "t5", directory_cases()[2]);
  import("t5", "of-t5");
  EXPECT_NE(refused("generate " + path("of-t5") + chat)
                .find("--chat: is for models that go on with a text; this one is of the family t5"),
            std::string::npos);
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
