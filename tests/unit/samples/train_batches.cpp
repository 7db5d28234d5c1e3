#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "io/tokens/token_writer.hpp"
#include "samples/batches.hpp"

namespace spillway::train_batches_test {
namespace {

constexpr std::int64_t kSequence = 5, kTokens = 101;  // 20 windows
Recipe const kRecipe{.lengths = {kSequence}, .window = kSequence};
// Documents of one token, of several windows, and such as begin and end with windows.
std::vector<std::int64_t> const kStarts = {0, 1, 2, 30, 35, 43, 44, 100};

struct Batch {
  explicit Batch(std::int64_t micro)
      : tokens(rows(micro)),
        documents(rows(micro), -2),
        targets(rows(micro)),
        weights(rows(micro), -1.0f),
        samples(rows(micro)) {}
  static std::size_t rows(std::int64_t micro) {
    return static_cast<std::size_t>(micro * kSequence);
  }
  BatchBuffers buffers() {
    auto const bytes = [](auto& values) { return std::as_writable_bytes(std::span(values)); };
    return BatchBuffers({{BatchField::tokens, 0, bytes(tokens)},
                         {BatchField::documents, 0, bytes(documents)},
                         {BatchField::targets, 0, bytes(targets)},
                         {BatchField::weights, 0, bytes(weights)},
                         {BatchField::samples, 0, bytes(samples)}});
  }

  std::vector<std::int32_t> tokens, documents, targets;
  std::vector<float> weights;
  std::vector<std::int64_t> samples;
};

// Token i of the file is i: a window tells its place.
class Batches : public testing::Test {
 protected:
  void SetUp() override {
    m_path = std::filesystem::temp_directory_path() /
             ("train_batches_" + std::to_string(::getpid()) + ".h5");
    std::vector<std::int32_t> tokens(kTokens);
    std::iota(tokens.begin(), tokens.end(), 0);
    TokenWriter writer(Output(m_path), "byte", 256, kTokens, std::ssize(kStarts));
    writer.append(tokens);
    writer.close(kStarts);
    m_tokens.emplace("data.train", std::vector{m_path.string()});
  }
  void TearDown() override {
    m_tokens.reset();
    std::filesystem::remove(m_path);
  }

  std::filesystem::path m_path;
  std::optional<TokenSet> m_tokens;
  // Batches of windows of m_tokens.
  TrainBatches batches_of(DataOrder const& order, Recipe const& recipe, BatchShape const& shape) {
    return {{{text_of({m_path.string()}, recipe), order}}, recipe, shape};
  }
  EvalBatches eval_batches_of(Recipe const& recipe, BatchShape const& shape, std::int64_t windows) {
    return {text_of({m_path.string()}, recipe), recipe, shape, windows};
  }

  // The text lives as long as the test.
  SampledText const& text_of(std::vector<std::string> const& paths, Recipe const& recipe) {
    TokenSet tokens("data.train", paths);
    TextWindows windows(tokens, recipe);
    return m_texts.emplace_back(std::move(tokens), std::move(windows));
  }

  std::deque<SampledText> m_texts;
  DataOrder m_order{20, 3};
};

TEST(BatchShape, gives_every_sample_of_a_step_to_one_row) {
  for (std::int64_t ranks : {1, 2, 3}) {
    for (std::int64_t micro : {1, 2, 4}) {
      for (std::int64_t sequences : {1, 5, 8, 13}) {
        std::map<std::int64_t, int> seen;
        for (std::int64_t rank = 0; rank < ranks; ++rank) {
          BatchShape const shape{sequences, micro, rank, ranks};
          for (std::int64_t batch = 0; batch < shape.micro_batches(); ++batch) {
            for (std::int64_t row = 0; row < micro; ++row) {
              if (auto const sample = shape.sample(batch, row)) ++seen[*sample];
            }
          }
        }
        ASSERT_EQ(std::ssize(seen), sequences);
        EXPECT_EQ(seen.begin()->first, 0);
        EXPECT_EQ(seen.rbegin()->first, sequences - 1);
        for (auto const& [sample, count] : seen) EXPECT_EQ(count, 1) << sample;
      }
    }
  }
}

// No smaller micro-batch leaves fewer.
TEST(BatchShape, tells_of_empty_rows_without_advice_where_there_is_none) {
  EXPECT_EQ(describe_empty_rows({5, 1, 0, 2}),
            "1 of 6 rows (17 %) of a step is empty, as 5 sequences do not part into micro-batches "
            "of 1 on 2 ranks\n");
  EXPECT_EQ(describe_empty_rows({3, 2, 0, 2}),
            "1 of 4 rows (25 %) of a step is empty, as 3 sequences do not part into micro-batches "
            "of 2 on 2 ranks\n");
  EXPECT_EQ(describe_empty_rows({1, 1, 0, 1000}),
            "999 of 1000 rows (100 %) of a step are empty, as 1 sequence does not part into "
            "micro-batches of 1 on 1000 ranks\n");
  EXPECT_EQ(describe_empty_rows({1, 1, 0, 1}), "");
}

TEST_F(Batches, hold_the_ordered_windows_with_each_token_s_successor_as_target) {
  auto batches = batches_of(m_order, kRecipe, {4, 2, 0, 1});
  batches.start_at(0, 0);
  Batch batch(2);
  for (std::int64_t step = 0; step < 6; ++step) {  // over the end of the first epoch
    for (std::int64_t micro_batch = 0; micro_batch < 2; ++micro_batch) {
      batches.load(step, micro_batch, batch.buffers());
      for (std::int64_t i = 0; i < 2 * kSequence; ++i) {
        auto const sample = 4 * step + 2 * micro_batch + i / kSequence;
        auto const token = m_order.sample(sample).window * kSequence + i % kSequence;
        auto const at = static_cast<std::size_t>(i);
        EXPECT_EQ(batch.tokens[at], token);
        EXPECT_EQ(batch.targets[at], token + 1);
        EXPECT_EQ(batch.weights[at], 1.0f);
        EXPECT_EQ(batch.documents[at], 0);
        EXPECT_EQ(batch.samples[static_cast<std::size_t>(i / kSequence)], sample);
      }
    }
  }
}

TEST_F(Batches, of_a_resumed_run_go_on_where_it_stopped) {
  BatchShape const shape{3, 3, 0, 1};
  auto whole = batches_of(m_order, kRecipe, shape), resumed = batches_of(m_order, kRecipe, shape);
  whole.start_at(0, 0);
  resumed.start_at(7, 21);
  Batch one(3), other(3);
  for (std::int64_t step = 7; step < 10; ++step) {
    whole.load(step, 0, one.buffers());
    resumed.load(step, 0, other.buffers());
    EXPECT_EQ(one.tokens, other.tokens);
    EXPECT_EQ(one.samples, other.samples);
  }
}

// As a run's are whose data changed within an epoch: each sample is of the text that has it, and
// the log numbers windows in the last text.
TEST_F(Batches, of_two_texts_are_of_one_until_its_end_and_then_of_the_other) {
  auto const other_path = std::filesystem::path(m_path) += ".other";
  std::vector<std::int32_t> tokens(52);
  std::iota(tokens.begin(), tokens.end(), 150);
  TokenWriter writer(Output(other_path), "byte", 256, std::ssize(tokens), 1);
  writer.append(tokens);
  writer.close(std::vector<std::int64_t>{0});
  auto const& alone = text_of({m_path.string()}, kRecipe);
  auto const& other = text_of({other_path.string()}, kRecipe);
  auto const& both = text_of({other_path.string(), m_path.string()}, kRecipe);
  DataOrder const of_other(10, 3, {20, 0}), of_both(30, 3, {30, 1});
  auto const log_dir = std::filesystem::path(m_path) += ".log";
  std::filesystem::create_directory(log_dir);
  SampleLog log(log_dir, 0);
  // 20 windows of the first file, 10 of the other one, then epochs of both.
  TrainBatches batches({{alone, m_order, 20, {52}}, {other, of_other, 30, {0}}, {both, of_both}},
                       kRecipe, {40, 40, 0, 1}, &log);
  batches.start_at(0, 0);
  Batch batch(40);
  batches.load(0, 0, batch.buffers());
  log.commit_step(0);
  std::ifstream logged(log_dir / "samples-0.txt");
  for (std::int64_t sample = 0; sample < 40; ++sample) {
    std::int64_t const step = 0, epoch = sample < 30 ? 0 : 1;
    std::int64_t at = 0;  // of the window in the last text
    std::int64_t first = 0;
    if (sample < 20) {
      first = m_order.sample(sample).window * kSequence;
      at = 52 + first;
    } else if (sample < 30) {
      at = of_other.sample(sample).window * kSequence;
      first = 150 + at;
    } else {
      at = of_both.sample(sample).window * kSequence;
      first = at < 52 ? 150 + at : at - 52;
    }
    EXPECT_EQ(batch.tokens[static_cast<std::size_t>(sample * kSequence)], first) << sample;
    std::int64_t seen_step, seen_sample, seen_window, seen_epoch;
    logged >> seen_step >> seen_sample >> seen_window >> seen_epoch;
    EXPECT_EQ(std::tuple(seen_step, seen_sample, seen_window, seen_epoch),
              std::tuple(step, sample, at / kSequence, epoch));
  }
  std::filesystem::remove(other_path);
  std::filesystem::remove_all(log_dir);
}

// A run that changes its batch size: samples are counted, not steps.
TEST_F(Batches, depend_on_the_sample_a_step_begins_at) {
  auto batches = batches_of(m_order, kRecipe, {1, 1, 0, 1});
  batches.start_at(7, 11);
  Batch batch(1);
  batches.load(8, 0, batch.buffers());
  EXPECT_EQ(batch.tokens.front(), m_order.sample(12).window * kSequence);
}

TEST_F(Batches, have_weight_zero_beyond_the_step_s_samples) {
  auto batches = batches_of(m_order, kRecipe, {5, 2, 1, 2});  // rank 1: samples 2, 3
  batches.start_at(0, 0);
  Batch batch(2);
  batches.load(0, 0, batch.buffers());
  EXPECT_EQ(std::accumulate(batch.weights.begin(), batch.weights.end(), 0.0f), 2.0f * kSequence);
  batches.load(0, 1, batch.buffers());
  EXPECT_EQ(std::accumulate(batch.weights.begin(), batch.weights.end(), 0.0f), 0.0f);
  for (auto const token : batch.tokens) EXPECT_EQ(token, 0);
  for (auto const start : batch.documents) EXPECT_EQ(start, -1);
}

TEST_F(Batches, of_an_evaluation_cover_its_windows_once_in_file_order) {
  constexpr std::int64_t windows = 7;
  std::map<std::int32_t, int> inputs;
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    auto batches = eval_batches_of(kRecipe, {4, 2, rank, 2}, windows);
    Batch batch(2);
    for (std::int64_t step = 0; step < 2; ++step) {
      batches.load(step, 0, batch.buffers());
      for (std::size_t i = 0; i < batch.tokens.size(); ++i) {
        if (batch.weights[i] > 0) ++inputs[batch.tokens[i]];
      }
    }
  }
  ASSERT_EQ(std::ssize(inputs), windows * kSequence);
  EXPECT_EQ(inputs.rbegin()->first, windows * kSequence - 1);
  for (auto const& [token, count] : inputs) EXPECT_EQ(count, 1) << token;
}

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
}  // namespace spillway::train_batches_test
