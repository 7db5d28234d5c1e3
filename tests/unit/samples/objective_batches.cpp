// Batches whose documents are kept apart, whose tokens are hidden, or of which two stacks are fed;
// and how many tokens samples have.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "io/tokens/token_writer.hpp"
#include "samples/batches.hpp"
#include "tests/unit/samples/train_batches_case.hpp"

namespace spillway::objective_batches_test {
namespace {

using test::Batch, test::Batches, test::kRecipe, test::kSequence, test::kStarts, test::kTokens;

// Every window of the text, whether documents begin in it, at its ends or before it.
TEST_F(Batches, that_keep_documents_apart_number_them_and_predict_none_from_another) {
  auto recipe = kRecipe;
  recipe.pack = true;
  auto batches = batches_of(m_order, recipe, {20, 20, 0, 1});
  batches.start_at(0, 0);
  Batch batch(20);
  batches.load(0, 0, batch.buffers());
  auto const begins = [](std::int32_t token) { return std::ranges::count(kStarts, token) > 0; };
  for (std::size_t i = 0; i < batch.tokens.size(); ++i) {
    auto const token = batch.tokens[i];
    EXPECT_EQ(batch.targets[i], token + 1);
    EXPECT_EQ(batch.weights[i], begins(token + 1) ? 0.0f : 1.0f) << token;
    auto const before = i % kSequence == 0 ? 0 : batch.documents[i - 1] + (begins(token) ? 1 : 0);
    EXPECT_EQ(batch.documents[i], before) << token;
  }
}

Recipe hiding() {
  return {.objective = Objective::masked,
          .lengths = {kSequence},
          .window = kSequence,
          .words = 101,
          .ids = {.mask = 200},
          .seed = 3};
}

TEST_F(Batches, of_another_epoch_hide_other_tokens) {
  DataOrder const one_window(1, 3);
  auto batches = batches_of(one_window, hiding(), {40, 40, 0, 1});
  batches.start_at(0, 0);
  Batch batch(40);
  batches.load(0, 0, batch.buffers());
  std::set<std::vector<float>> hidden;
  for (auto row = batch.weights.begin(); row != batch.weights.end(); row += kSequence)
    hidden.emplace(row, row + kSequence);
  EXPECT_GT(hidden.size(), 5u);
}

// Whatever ranks and micro-batches share a step's samples, and wherever the run began.
TEST_F(Batches, of_a_sample_are_the_same_on_any_rank_and_after_a_restart) {
  auto const samples = [&](std::int64_t ranks, std::int64_t micro, std::int64_t first) {
    std::map<std::int64_t, std::vector<std::int32_t>> found;
    for (std::int64_t rank = 0; rank < ranks; ++rank) {
      BatchShape const shape{7, micro, rank, ranks};
      auto batches = batches_of(m_order, hiding(), shape);
      batches.start_at(first, 7 * first);
      Batch batch(micro);
      for (std::int64_t part = 0; part < shape.micro_batches(); ++part) {
        batches.load(9, part, batch.buffers());
        for (std::int64_t row = 0; row < micro; ++row) {
          if (!shape.sample(part, row)) continue;
          auto const begin = batch.tokens.begin() + row * kSequence;
          found[batch.samples[static_cast<std::size_t>(row)]] = {begin, begin + kSequence};
        }
      }
    }
    return found;
  };
  auto const alone = samples(1, 7, 0);
  EXPECT_EQ(std::ssize(alone), 7);
  EXPECT_EQ(alone, samples(3, 2, 0));
  EXPECT_EQ(alone, samples(2, 3, 8));
}

TEST_F(Batches, of_an_evaluation_hide_the_same_whatever_the_seed) {
  auto other = hiding();
  other.seed = 4;
  auto one = eval_batches_of(hiding(), {8, 8, 0, 1}, 8),
       two = eval_batches_of(other, {8, 8, 0, 1}, 8);
  Batch a(8), b(8);
  one.load(0, 0, a.buffers());
  two.load(0, 0, b.buffers());
  EXPECT_EQ(a.tokens, b.tokens);
  EXPECT_EQ(a.weights, b.weights);
}

Recipe spans_recipe() {
  return {.objective = Objective::spans,
          .lengths = {10, 5},
          .window = span_window(10, 5),
          .words = 101,
          .ids = {.pad = 250, .first_sentinel = 255}};
}

TEST_F(Batches, count_the_tokens_of_samples_in_every_epoch) {
  auto recipe = kRecipe;
  recipe.pack = true;
  auto plain = batches_of(m_order, recipe, {4, 2, 0, 1});
  EXPECT_EQ(plain.tokens_of(17, 6), 6 * kSequence);

  auto spans = spans_recipe();
  spans.pack = true;
  TextWindows const windows(*m_tokens, spans);
  DataOrder const order(windows.count(), 3);
  auto batches = batches_of(order, spans, {3, 3, 0, 1});
  auto const epoch = batches.tokens_of(0, order.windows());
  EXPECT_EQ(epoch, kTokens - 4);  // four documents of one token
  EXPECT_EQ(batches.tokens_of(order.windows(), order.windows()), epoch);
  std::vector<std::int64_t> scratch;
  for (std::int64_t sample = 0; sample < 2 * order.windows(); ++sample)
    EXPECT_EQ(batches.tokens_of(sample, 1),
              windows.at(*m_tokens, order.sample(sample).window, scratch).used);
}

// Each sample is counted in the text that it is of.
TEST_F(Batches, count_the_tokens_of_samples_of_several_texts) {
  auto spans = spans_recipe();
  spans.pack = true;
  auto const other_path = std::filesystem::path(m_path) += ".long";
  TokenWriter writer(Output(other_path), "byte", 256, 60, 1);
  writer.append(std::vector<std::int32_t>(60, 7));
  writer.close(std::vector<std::int64_t>{0});
  auto const& one = text_of({m_path.string()}, spans);
  auto const& other = text_of({other_path.string()}, spans);
  auto const windows = one.windows.count(), others = other.windows.count();
  DataOrder const of_one(windows, 3), of_other(others, 3, {windows, 0});
  TrainBatches const batches({{one, of_one, windows}, {other, of_other}}, spans, {3, 3, 0, 1});
  EXPECT_EQ(batches.tokens_of(0, windows), kTokens - 4);
  EXPECT_EQ(batches.tokens_of(windows, others), 60);
  EXPECT_EQ(batches.tokens_of(0, windows + 2 * others), kTokens - 4 + 120);
  EXPECT_EQ(batches.tokens_of(windows - 1, 2),
            batches.tokens_of(windows - 1, 1) + batches.tokens_of(windows, 1));
  EXPECT_EQ(batches.tokens_of(windows, 0), 0);
  std::filesystem::remove(other_path);
}

TEST_F(Batches, feed_an_encoder_and_a_decoder) {
  auto const recipe = spans_recipe();
  DataOrder const order((kTokens - 1) / recipe.window, 3);
  auto batches = batches_of(order, recipe, {3, 2, 0, 1});
  batches.start_at(0, 0);
  std::vector<std::int32_t> encoder(20), decoder(10), targets(10);
  auto const bytes = [](auto& values) { return std::as_writable_bytes(std::span(values)); };
  BatchBuffers const to({{BatchField::tokens, 0, bytes(encoder)},
                         {BatchField::tokens, 1, bytes(decoder)},
                         {BatchField::targets, 1, bytes(targets)}});
  batches.load(0, 1, to);  // the last sample, and padding
  EXPECT_EQ(std::ranges::count(encoder, 255), 1);
  EXPECT_EQ(decoder[0], 250);
  EXPECT_EQ(targets[0], 255);
  EXPECT_EQ(decoder[1], 255);
  EXPECT_EQ(std::vector(encoder.begin() + 10, encoder.end()), std::vector(10, 250));
}

}  // namespace
}  // namespace spillway::objective_batches_test
