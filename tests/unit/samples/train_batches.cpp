// Which windows batches hold, in a run and in an evaluation.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "io/tokens/token_writer.hpp"
#include "samples/batches.hpp"
#include "tests/unit/samples/train_batches_case.hpp"

namespace spillway::train_batches_test {
namespace {

using test::Batch, test::Batches, test::kRecipe, test::kSequence;

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

}  // namespace
}  // namespace spillway::train_batches_test
