// `generate` with checkpoints of every family: what it continues does not depend on how much of it
// was the prompt, and whatever it cannot do is refused in one line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>

#include "io/tokens/token_writer.hpp"
#include "tests/parity/experiment.hpp"
#include "tests/support/run_program.hpp"

namespace spillway::test::generate_command_test {
namespace {

using Ids = std::vector<std::int64_t>;

class Generated : public testing::Test {
 protected:
  // Trains a model for a step: its logits are almost equal, so any error changes which is largest.
  // Untied, it does not just repeat its last token.
  void train(std::string const& name, Keys const& keys) {
    m_experiment.emplace(
        "generate_" + name, 0,
        Keys{"precision=fp32", "model.tied=false", "run.eval.every=0", "run.steps=1"} + keys);
    m_checkpoint = (m_experiment->run("run").dir / "step-1").string();
  }

  Outcome generate(std::string const& arguments) const {
    return run_command(fmt::format("{} generate --checkpoint {} {}", spillway_command(0),
                                   m_checkpoint, arguments));
  }

  // The ids that follow these, and these before them where the family shows them.
  Ids after(Ids const& prompt, std::int64_t tokens, std::string const& more = "") const {
    auto const outcome = generate(fmt::format("--temperature 0 --tokens {} --prompt-ids {} {}",
                                              tokens, fmt::join(prompt, ","), more));
    EXPECT_EQ(outcome.status, 0) << outcome.output;
    EXPECT_EQ(outcome.lines().size(), 1u) << outcome.output;
    std::istringstream line(outcome.output);
    Ids ids;
    for (std::int64_t id = 0; line >> id;) ids.push_back(id);
    return ids;
  }

  void expect_same_from(Ids const& all, std::vector<std::int64_t> const& prompts) const {
    for (auto const size : prompts)
      EXPECT_EQ(after({all.begin(), all.begin() + size}, std::ssize(all) - size), all) << size;
  }

  void expect_refused(std::string const& arguments, std::string const& why) const {
    auto const outcome = generate(arguments);
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_EQ(outcome.lines().size(), 1u) << outcome.output;
    EXPECT_NE(outcome.output.find(why), std::string::npos) << outcome.output;
  }

  std::optional<Experiment> m_experiment;
  std::string m_checkpoint;
};

Keys const kLlama = {"model.family=llama", "model.heads=4", "model.kv_heads=2",
                     "model.qk_norm=true", "model.ffn=96",  "model.window=20",
                     "model.window_from=1"};

TEST_F(Generated, a_gpt_goes_on_the_same_whatever_part_of_it_was_the_prompt) {
  train("gpt", {});
  auto const all = after({1}, 63);
  EXPECT_EQ(all.size(), 64u);
  EXPECT_GT(std::set(all.begin(), all.end()).size(), 5u) << "a text that would show no fault";
  expect_same_from(all, {2, 30, 63});
  EXPECT_EQ(after({1, 8, 43}, 200).size(), 203u) << "beyond its positions";
  // When a 65th would need a position, it goes on from the last 32.
  auto const beyond = after({1}, 65);
  EXPECT_EQ(after(Ids(beyond.begin() + 33, beyond.begin() + 65), 1).back(), beyond[65]);
  EXPECT_EQ(after(Ids(200, 7), 3).size(), 203u) << "from beyond its positions";
}

TEST_F(Generated, a_llama_goes_on_the_same_whatever_part_of_it_was_the_prompt) {
  train("llama", kLlama);
  auto const all = after({1}, 139);
  EXPECT_EQ(all.size(), 140u);
  EXPECT_GT(std::set(all.begin(), all.end()).size(), 5u) << "a text that would show no fault";
  expect_same_from(all, {2, 63, 64, 65, 100, 128, 139});
}

TEST_F(Generated, a_text_ends_where_its_model_says_so) {
  train("endless", {});
  auto const all = after({1, 8, 43}, 20);
  auto const end = all[10];
  auto const asked = generate("--temperature 0 --tokens 20 --prompt-ids 1,8,43 data.eos_id=" +
                              std::to_string(end));
  expect_refused("--prompt-ids 1 model.layers=1", "only ids of special tokens");
  expect_refused("--chat --prompt a", "has bytes as tokens, for which there are no chat templates");
  train("ending", {"data.eos_id=" + std::to_string(end)});
  auto const first = std::find(all.begin() + 3, all.end(), end);
  EXPECT_EQ(after({1, 8, 43}, 20), Ids(all.begin(), first + 1));
  EXPECT_EQ(asked.output, generate("--temperature 0 --tokens 20 --prompt-ids 1,8,43").output);
}

TEST_F(Generated, at5_tells_what_its_sentinels_stand_for) {
  train("t5", {"model.family=t5", "model.vocab=400"});
  auto const ids = after({1, 8, 43, 399, 20, 8, 398}, 30);
  EXPECT_LE(ids.size(), 30u);
  ASSERT_GE(ids.size(), 5u);
  auto const fewer = after({1, 8, 43, 399, 20, 8, 398}, 5);
  EXPECT_EQ(fewer, Ids(ids.begin(), ids.begin() + 5));
  EXPECT_NE(after({5, 5, 5, 5, 399}, 30), ids) << "it does not read its prompt";
  auto const text = generate("--temperature 0 --tokens 8 --prompt \"ab<extra_id_0>cd\"");
  EXPECT_EQ(text.status, 0);
  EXPECT_EQ(text.output.find("ab"), std::string::npos) << text.output;
  expect_refused("--prompt \"a<extra_id_7777>\"", "no sentinel for <extra_id_7777>");
}

TEST_F(Generated, a_bert_says_what_is_likeliest_at_every_place) {
  train("bert", {"model.family=bert", "model.vocab=257"});
  auto const three = generate("--top 3 --prompt-ids 1,8,256,20,256,5");
  EXPECT_EQ(three.status, 0) << three.output;
  auto const lines = three.lines();
  ASSERT_EQ(lines.size(), 2u) << three.output;
  for (std::size_t place = 0; place < 2; ++place) {
    std::istringstream line(lines[place]);
    std::string number, comma;
    line >> number;
    EXPECT_EQ(number, std::to_string(place + 1) + ":");
    std::int64_t id = 0, count = 0;
    for (double probability = 0, before = 1; line >> id >> probability; before = probability) {
      EXPECT_LE(probability, before);
      EXPECT_LT(id, 257);
      ++count;
      line >> comma;
    }
    EXPECT_EQ(count, 3);
  }
  EXPECT_EQ(generate("--prompt a[MASK]b").lines().size(), 1u);
  expect_refused("--prompt ab", "--prompt: has no [MASK] to fill");
  expect_refused("--prompt-ids 1,2", "none is 256, the model's data.mask_id");
  expect_refused("--prompt-ids " + fmt::format("{}", fmt::join(Ids(65, 256), ",")),
                 "65 tokens; the model has positions for 64");
}

TEST_F(Generated, a_model_trained_with_narrow_gradients_computes_in_fp32) {
  train("narrow", {"precision=bf16", "optim.gradients=bf16"});
  auto const outcome = generate("--prompt-ids 1,2 --tokens 2 --precision fp32");
  EXPECT_EQ(outcome.status, 0) << outcome.output;
}

// Each as if it were alone, whatever the others are.
TEST_F(Generated, many_prompts_of_a_file_are_gone_on_with_one_by_one) {
  train("many", {});
  auto const write = [&](std::string const& name, std::string const& text) {
    std::ofstream(m_experiment->directory() / name) << text;
    return (m_experiment->directory() / name).string();
  };
  auto const texts = write("texts.txt", "ab\n\nThe quick brown fox jumps\n");
  auto const plain = generate("--temperature 0 --tokens 4 --prompts " + texts);
  EXPECT_EQ(plain.status, 0) << plain.output;
  EXPECT_EQ(plain.output, generate("--temperature 0 --tokens 4 --prompt ab").output + "\n" +
                              generate("--temperature 0 --tokens 4 --prompt "
                                       "\"The quick brown fox jumps\"")
                                  .output);
  auto const objects = write("both.jsonl", "{\"prompt\": \"ab\"}\n{\"prompt_ids\": [1, 8, 43]}\n");
  auto const json = generate("--temperature 0 --tokens 4 --prompts " + objects);
  ASSERT_EQ(json.lines().size(), 2u) << json.output;
  auto const second = nlohmann::json::parse(json.lines()[1]);
  EXPECT_EQ(second.at("prompt_ids"), (Ids{1, 8, 43}));
  auto const made = after({1, 8, 43}, 4);
  EXPECT_EQ(second.at("ids"), Ids(made.begin() + 3, made.end()));
  EXPECT_EQ(nlohmann::json::parse(json.lines()[0]).at("prompt"), "ab");
  expect_refused("--prompts " + write("none.txt", "\n"), "none.txt: has no prompt");
  expect_refused("--prompts " + write("bad.jsonl", "{\"prompt\": \"a\"}\n7\n"),
                 "bad.jsonl:2: is no object");
  expect_refused("--prompts " + write("far.jsonl", "{\"prompt_ids\": [1000000]}\n"),
                 "far.jsonl:1: 1000000 is not in the model's vocabulary");
}

TEST_F(Generated, a_text_ends_before_a_stop_text) {
  train("stopping", {});
  auto const whole = generate("--temperature 0 --tokens 12 --prompt ab").output;
  ASSERT_GT(whole.size(), 8u);
  auto const stop = whole.substr(6, 1);
  if (stop.find_first_of("\"\\`$'\n") != stop.npos) GTEST_SKIP() << "a shell would change " << stop;
  auto const ended =
      generate("--temperature 0 --tokens 12 --prompt ab --stop zzzz --stop \"" + stop + "\"");
  EXPECT_EQ(ended.output, whole.substr(0, whole.find(stop, 2)) + "\n");
  expect_refused("--prompt-ids 1,2 --stop a", "--stop: is a text, and the prompt is ids");
}

TEST_F(Generated, what_a_model_cannot_take_is_refused_in_one_line) {
  train("refusals", {});
  expect_refused("--prompt-ids 1,256", "256 is not in the model's vocabulary of 256");
  expect_refused("--prompt-ids=-1", "-1 is not in the model's vocabulary of 256");
  expect_refused("", "give --prompt, --prompt-ids or --prompts");
  auto const expect_no_option = [&](std::string const& arguments, std::string const& why) {
    auto const outcome = generate(arguments);
    EXPECT_EQ(outcome.status, 2) << outcome.output;
    EXPECT_NE(outcome.output.find(why), std::string::npos) << outcome.output;
  };
  expect_no_option("--prompt-ids \"\"", "'' of '' is no whole number");
  expect_no_option("--prompt-ids 5,x",
                   "'x' of '5,x' is no whole number; give such numbers with commas");
  expect_no_option("--prompt-ids 1 --temperature nan", "'nan' is no number from 0 on");
  expect_no_option("--prompt-ids 1 --seed=-1", "'-1' is no whole number from 0 to 2^64 - 1");
  expect_refused("--prompt \"\"", "--prompt: is empty");
  expect_refused("--prompt a --top 3", "--top: is for models that fill places");
  EXPECT_EQ(generate("--prompt a --prompt-ids 1").status, 2);
}

TEST_F(Generated, text_for_a_model_with_other_tokens_is_refused) {
  auto const path = scratch_directory("other_tokens") / "tokens.h5";
  TokenWriter writer(Output(path), "bpe", 256, 3000, 0);
  writer.append(std::vector<std::int32_t>(3000, 5));
  writer.close({});
  train("other", {"data.train=" + path.string(), "data.valid=none"});
  expect_refused("--prompt a", "has tokens of 'bpe'");
  EXPECT_EQ(after({5, 5}, 3).size(), 5u);
}

}  // namespace
}  // namespace spillway::test::generate_command_test
