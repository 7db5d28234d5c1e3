// Keys whose values are words: which words, and what they become.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "config/keys.hpp"
#include "config/load.hpp"
#include "tests/support/refused_with.hpp"
#include "tests/unit/config/config_errors.hpp"

namespace spillway::config_choices_test {
namespace {

using Words = std::vector<std::string>;

// The words of "auto | last | each".
Words words_of(std::string form) {
  Words words;
  for (std::size_t bar; (bar = form.find(" | ")) != form.npos; form.erase(0, bar + 3))
    words.push_back(form.substr(0, bar));
  words.push_back(form);
  return words;
}

std::vector<Key> choices_of(Config& config) {
  auto keys = keys_of(config);
  std::erase_if(keys,
                [](Key const& key) { return !std::holds_alternative<ChoiceField>(key.field); });
  return keys;
}

Value scalar(std::string const& text) {
  return {Value::Kind::scalar, 1, text, {}, {}};
}

TEST(ConfigChoices, are_written_as_the_words_that_are_read) {
  Config config;
  auto const keys = choices_of(config);
  EXPECT_EQ(keys.size(), 19u);
  for (Key const& key : keys) {
    for (auto const& word : words_of(form_of(key))) {
      read_key(key, scalar(word), {});
      EXPECT_EQ(write_key(key), word) << key.name;
    }
  }
}

TEST(ConfigChoices, refuse_other_words_and_stay_as_they_were) {
  Config config;
  for (Key const& key : choices_of(config)) {
    auto const before = write_key(key);
    for (std::string const word : {"another", "Auto", "none of them", "0"}) {
      auto const said = test::refused_with([&] {
        read_key(key, scalar(word), {"in.yaml:1", std::string(key.name)});
      });
      auto const why =
          fmt::format("in.yaml:1: {}: '{}' is not one of {}", key.name, word, form_of(key));
      EXPECT_EQ(said.substr(0, why.size()), why);
      EXPECT_EQ(write_key(key), before);
    }
  }
}

TEST(ConfigChoices, refuse_a_word_with_the_nearest_one) {
  EXPECT_TRUE(test::override_error("optim.name=adamw8bit").ends_with("; did you mean adamw_8bit?"));
  EXPECT_TRUE(test::override_error("precision=bf-16").ends_with("; did you mean bf16?"));
  EXPECT_TRUE(test::override_error("optim.schedule=step").ends_with("constant"));
}

// `auto` is the default of all keys that have it, and empty.
TEST(ConfigChoices, that_are_auto_are_empty) {
  Config config;
  for (Key const& key : choices_of(config)) {
    auto const words = words_of(form_of(key));
    bool const has_auto = std::ranges::count(words, kAuto) > 0;
    EXPECT_EQ(write_key(key) == kAuto, has_auto) << key.name;
    read_key(key, scalar(words.back()), {});
    if (has_auto) read_key(key, scalar("auto"), {});
  }
  EXPECT_EQ(config.model.activation, std::nullopt);
  EXPECT_EQ(config.model.scale_output, std::nullopt);
  EXPECT_EQ(config.data.objective, std::nullopt);
  EXPECT_EQ(config.optim.reduction, std::nullopt);
  EXPECT_EQ(config.run.checkpoint.resume, std::nullopt);
  EXPECT_EQ(config.debug.force_backend, std::nullopt);
  EXPECT_EQ(config.debug.kernels, std::nullopt);
  EXPECT_EQ(word(config.debug.kernels), "auto");
}

TEST(ConfigChoices, are_the_enumerators_of_their_words) {
  auto const c = parse_config(
      "model: {family: t5, activation: gelu_erf, scale_output: false}\n"
      "data: {objective: spans, changed: anew}\n"
      "optim: {name: adamw, schedule: constant, moments: bf16, gradients: bf16, reduction: each,\n"
      "  non_finite: skip}\n"
      "precision: bf16\nrun: {checkpoint: {resume: weights}}\n"
      "debug: {force_backend: uring-plain, kernels: portable}\n",
      "in.yaml");
  EXPECT_EQ(c.model.family, Family::t5);
  EXPECT_EQ(c.model.activation, Activation::gelu_erf);
  EXPECT_EQ(c.model.scale_output, ScaleOutput::no);
  EXPECT_EQ(c.data.objective, Objective::spans);
  EXPECT_EQ(c.data.changed, ChangedData::anew);
  EXPECT_EQ(c.optim.name, Optimizer::adamw);
  EXPECT_EQ(c.optim.schedule, Schedule::constant);
  EXPECT_EQ(c.optim.moments, Precision::bf16);
  EXPECT_EQ(c.optim.gradients, Precision::bf16);
  EXPECT_EQ(c.optim.reduction, Reduction::each);
  EXPECT_EQ(c.optim.non_finite, NonFinite::skip);
  EXPECT_EQ(c.precision, Precision::bf16);
  EXPECT_EQ(c.run.checkpoint.resume, Resume::weights);
  EXPECT_EQ(c.debug.force_backend, Backend::uring_plain);
  EXPECT_EQ(c.debug.kernels, KernelSet::portable);
}

// Words that are no names of C++ have tables, which are as long as their enumerations.
static_assert(kWords<Backend>.size() == count_enumerators<Backend>());
static_assert(kWords<ScaleOutput>.size() == count_enumerators<ScaleOutput>());

TEST(ConfigChoices, have_a_value_for_each_word_and_none_for_others) {
  EXPECT_EQ(parse_word<Backend>("uring-plain"), Backend::uring_plain);
  EXPECT_EQ(parse_word<Backend>("uring_plain"), std::nullopt);
  EXPECT_EQ(parse_word<Backend>("auto"), std::nullopt);
  EXPECT_EQ(parse_word<Precision>("fp32"), Precision::fp32);
  EXPECT_EQ(parse_word<Precision>(""), std::nullopt);
  EXPECT_EQ(word(ScaleOutput::no), "false");
  EXPECT_EQ(word(std::optional(Reduction::each)), "each");
}

// The rule is of all models with rotary positions, and names the line of the key.
TEST(ConfigChoices, of_a_family_decide_which_rules_hold) {
  auto const refusal = [](std::string const& text) {
    return test::refused_with([&] { parse_config(text, "in.yaml"); });
  };
  EXPECT_EQ(refusal("model:\n  family: llama\n  head_size: 15\n"),
            "in.yaml:3: model.head_size: rotary positions turn columns of a head in pairs, and it "
            "has 15");
  for (Family const family : {Family::gpt, Family::bert})
    EXPECT_EQ(refusal(fmt::format("model: {{family: {}, hidden: 90, heads: 6}}", word(family))),
              "");
  EXPECT_EQ(refusal("model: {family: t5, head_size: 15}"), "");
}

}  // namespace
}  // namespace spillway::config_choices_test
