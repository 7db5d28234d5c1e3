// These sources fill the batch buffers of micro-batches from token files.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "io/tokens/token_set.hpp"
#include "runtime/batch_source.hpp"
#include "samples/batch_shape.hpp"
#include "samples/data_order.hpp"
#include "samples/sample_log.hpp"
#include "samples/sequence_reader.hpp"
#include "samples/text_windows.hpp"

namespace spillway {

// A TextOrder says that the samples before `end` are windows of `text`, shuffled by `order`.
// Several TextOrders follow one another, and each begins where the one before it ends. `text` must
// outlive this object and batches made of it.
struct TextOrder {
  SampledText const& text;
  DataOrder order;
  std::int64_t end = std::numeric_limits<std::int64_t>::max();
  // For each file of `text`, this is the token of data.train at which the file begins, and it is
  // used only in the log. If it is empty, `text` is data.train itself.
  std::vector<std::int64_t> starts = {};
};

// Loads windows for training in their shuffled order, from one text after the other.
class TrainBatches final : public BatchSource {
 public:
  // Every sample that is loaded is added to `log`, which may be null. The last one of `texts` must
  // leave `end` at its default, since the run goes on with it for ever.
  TrainBatches(std::vector<TextOrder> texts, Recipe const& recipe, BatchShape shape,
               SampleLog* log = nullptr);
  // Returns how many tokens the sequences of these samples use. Any thread may call it. Throws what
  // TokenSet throws if it cannot read where documents begin.
  std::int64_t tokens_of(std::int64_t first_sample, std::int64_t samples) const;
  // Makes step `step` begin at sample `sample` of the run. It must not be called while an engine
  // runs.
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

// Loads windows 0 to `windows` - 1 for an evaluation, once each and by rising number. Step k loads
// the k-th shape.sequences of them. Random draws of an objective are the same in every evaluation
// and every run, whatever parts of a text come before.
class EvalBatches final : public BatchSource {
 public:
  EvalBatches(SampledText const& text, Recipe recipe, BatchShape shape, std::int64_t windows);
  void load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) override;

 private:
  SequenceReader m_reader;
  TextWindows const& m_text;
  BatchShape m_shape;
  std::int64_t m_windows;
};

}  // namespace spillway
