// Fills the batch buffers of micro-batches from token files.
#pragma once

#include <cstdint>
#include <optional>

#include "io/tokens/token_set.hpp"
#include "runtime/batch_source.hpp"
#include "train/data_order.hpp"
#include "train/sample_log.hpp"
#include "train/sequence_reader.hpp"

namespace spillway {

// How a step's sequences are spread: sample s of a step goes to micro-batch s / (ranks * micro), in
// it to rank (s / micro) % ranks. Rows beyond the step's samples have weight zero.
struct BatchShape {
  std::int64_t sequences = 0;  // per step, over all ranks
  std::int64_t micro = 0;      // per rank and micro-batch
  std::int64_t rank = 0, ranks = 1;

  std::int64_t micro_batches() const;
  // The step's sample in row-block `row` of this rank's micro-batch; empty beyond the last one.
  std::optional<std::int64_t> sample(std::int64_t micro_batch, std::int64_t row) const;
};

// Training: windows in the seeded order.
class TrainBatches final : public BatchSource {
 public:
  // `log`, which may be null, hears of every sample that is loaded.
  TrainBatches(TokenSet const& tokens, DataOrder const& order, Recipe recipe, BatchShape shape,
               SampleLog* log = nullptr);
  // Step `step` begins at global sample `sample`. Not while an engine runs.
  void start_at(std::int64_t step, std::int64_t sample);
  void load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) override;

 private:
  SequenceReader m_reader;
  DataOrder const& m_order;
  BatchShape m_shape;
  SampleLog* m_log;
  std::int64_t m_first_step = 0, m_first_sample = 0;
};

// Evaluation: windows 0 .. `windows` - 1 in their order, each once; "step" k holds the k-th
// shape.sequences of them. What an objective draws is the same in every evaluation and every run.
class EvalBatches final : public BatchSource {
 public:
  EvalBatches(TokenSet const& tokens, Recipe recipe, BatchShape shape, std::int64_t windows);
  void load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) override;

 private:
  SequenceReader m_reader;
  BatchShape m_shape;
  std::int64_t m_windows;
};

}  // namespace spillway
