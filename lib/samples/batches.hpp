// Fills the batch buffers of micro-batches from token files.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "io/tokens/token_set.hpp"
#include "runtime/batch_source.hpp"
#include "samples/data_order.hpp"
#include "samples/sample_log.hpp"
#include "samples/sequence_reader.hpp"
#include "samples/text_windows.hpp"

namespace spillway {

// How a step's sequences are spread: sample s of a step goes to micro-batch s / (ranks * micro), in
// it to rank (s / micro) % ranks. Rows beyond the step's samples have weight zero.
struct BatchShape {
  std::int64_t sequences = 0;  // per step, over all ranks
  std::int64_t micro = 0;      // per rank and micro-batch
  std::int64_t rank = 0, ranks = 1;

  std::int64_t micro_batches() const;
  std::int64_t rows() const { return micro_batches() * micro * ranks; }  // of all ranks in a step
  double filled() const {  // the share of them that hold text
    return static_cast<double>(sequences) / static_cast<double>(rows());
  }
  // The step's sample in row-block `row` of this rank's micro-batch; empty beyond the last one.
  std::optional<std::int64_t> sample(std::int64_t micro_batch, std::int64_t row) const;
};

// "8 of 24 rows of a step are empty ...", with a micro-batch that leaves fewer; "" where all hold
// text.
std::string describe_empty_rows(BatchShape const& shape);
// The micro-batch of at most `most` sequences, and at least half of them, that leaves the fewest
// rows empty; of equal ones the largest.
std::int64_t fullest_micro(std::int64_t sequences, std::int64_t ranks, std::int64_t most);

// Samples before number `end` that no TextOrder before this one has: windows of `text` in `order`.
// Refers to the text, as do the batches that are made of it.
struct TextOrder {
  SampledText const& text;
  DataOrder order;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
  // For each file, where it begins in all of the run's text, for the log; empty: as in `text`.
  std::vector<std::int64_t> starts = {};
};

// Training: windows in the seeded order, of one text after the other.
class TrainBatches final : public BatchSource {
 public:
  // `log`, which may be null, hears of every sample that is loaded. The last of `texts` has no end.
  TrainBatches(std::vector<TextOrder> texts, Recipe const& recipe, BatchShape shape,
               SampleLog* log = nullptr);
  // How many tokens of the text the sequences of these samples have. Any thread. Throws what
  // reading where documents begin does.
  std::int64_t tokens_of(std::int64_t first_sample, std::int64_t samples) const;
  // Step `step` begins at global sample `sample`. Not while an engine runs.
  void start_at(std::int64_t step, std::int64_t sample);
  void load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) override;

 private:
  struct Text {
    TextOrder from;
    SequenceReader reader;
  };
  std::int64_t window_of_all(TextOrder const& text, std::int64_t first_token) const;
  std::size_t text_of(std::int64_t sample) const;

  std::vector<Text> m_texts;
  Recipe m_recipe;
  BatchShape m_shape;
  SampleLog* m_log;
  std::int64_t m_first_step = 0, m_first_sample = 0;
};

// Evaluation: windows 0 .. `windows` - 1 in their order, each once; "step" k holds the k-th
// shape.sequences of them. What an objective draws is the same in every evaluation and every run.
class EvalBatches final : public BatchSource {
 public:
  EvalBatches(SampledText const& text, Recipe recipe, BatchShape shape, std::int64_t windows);
  void load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) override;

 private:
  SequenceReader m_reader;
  BatchShape m_shape;
  std::int64_t m_windows;
};

}  // namespace spillway
