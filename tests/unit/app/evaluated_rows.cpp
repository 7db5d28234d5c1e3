// What `eval` prints, as text and as JSON.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "app/eval_rows.hpp"

namespace spillway::evaluated_rows_test {
namespace {

double const kLog2 = std::log(2.0);

TextLoss text(double perplexity, double targets, std::int64_t tokens) {
  return {{std::log(perplexity) * targets, targets}, {}, tokens};
}

TextLoss with_prompts(TextLoss loss, double perplexity, double targets) {
  loss.seen = LossSums{std::log(perplexity) * targets, targets};
  return loss;
}

TEST(EvaluatedRows, are_a_line_for_one_text_and_one_checkpoint) {
  EXPECT_EQ(eval_text({"a.h5"}, {{"runs/a/step-3", 3, {text(2, 10, 12)}}}),
            "loss 0.693147  perplexity 2.0000  tokens 12  targets 10  (runs/a/step-3 of step 3)\n");
  EXPECT_EQ(eval_text({"a.h5"}, {{"runs/a/step-3", 3, {with_prompts(text(2, 10, 32), 8, 20)}}}),
            "loss 0.693147  perplexity 2.0000  tokens 32  targets 10  "
            "prompt perplexity 8.0000 of 20  (runs/a/step-3 of step 3)\n");
}

TEST(EvaluatedRows, are_a_table_for_several) {
  std::vector<EvalRow> const rows = {
      {"before", 0, {text(16, 10, 12), with_prompts(text(4, 30, 40), 8, 20)}},
      {"runs/a/step-3", 3, {text(2, 10, 12), with_prompts(text(2, 30, 40), 4, 20)}}};
  EXPECT_EQ(eval_text({"a.h5", "b.h5"}, rows),
            "text  checkpoint                 loss  perplexity  targets  prompt perplexity  "
            "of targets\n"
            "a.h5  before, step 0         2.772589     16.0000       10\n"
            "      runs/a/step-3, step 3  0.693147      2.0000       10\n"
            "b.h5  before, step 0         1.386294      4.0000       30             8.0000  "
            "        20\n"
            "      runs/a/step-3, step 3  0.693147      2.0000       30             4.0000  "
            "        20\n"
            "all   before, step 0         1.732868      5.6569       40             8.0000  "
            "        20\n"
            "      runs/a/step-3, step 3  0.693147      2.0000       40             4.0000  "
            "        20\n");
  EXPECT_EQ(eval_text({"a.h5"}, {{"one", 1, {text(2, 10, 12)}}, {"two", 2, {text(2, 10, 12)}}}),
            "text  checkpoint       loss  perplexity  targets\n"
            "a.h5  one, step 1  0.693147      2.0000       10\n"
            "      two, step 2  0.693147      2.0000       10\n");
}

TEST(EvaluatedRows, are_json_with_each_text) {
  auto const json = nlohmann::json::parse(eval_json(
      {"a.h5", "b.h5"}, {{"one", 1, {text(2, 10, 12), with_prompts(text(2, 30, 40), 4, 20)}}}));
  ASSERT_EQ(json["checkpoints"].size(), 1u);
  auto const& one = json["checkpoints"][0];
  EXPECT_EQ(one["checkpoint"], "one");
  EXPECT_EQ(one["targets"], 40);
  EXPECT_EQ(one["tokens"], 52);
  EXPECT_NEAR(one["prompt_perplexity"], 4, 1e-9);
  EXPECT_EQ(one["texts"][0]["text"], "a.h5");
  EXPECT_NEAR(one["texts"][0]["loss"], kLog2, 1e-12);
  EXPECT_FALSE(one["texts"][0].contains("prompt_loss"));
  EXPECT_EQ(one["texts"][1]["prompt_targets"], 20);
}

}  // namespace
}  // namespace spillway::evaluated_rows_test
