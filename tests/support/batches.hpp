// These functions fill the batch of any training graph with numbers that suit it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>
#include <span>

#include "graph/graph.hpp"

namespace spillway::test {

// Returns the size of the vocabulary that the graph's loss has, or 0 if the graph has no loss.
// Tokens and targets must be below this number.
inline std::int64_t vocabulary(Graph const& graph) {
  auto const head = std::ranges::find(graph.ops, OpKind::lm_head_loss, &Op::kind);
  return head == graph.ops.end() ? 0 : head->inputs[1].shape[0];
}

// Returns how many rows at the end of this sequence are padding: two in every third sequence, and
// none in the others.
inline std::int64_t padding_rows(std::int64_t sample) {
  return sample % 3 == 1 ? 2 : 0;
}

// Writes the number of each row's document within its sequence, or -1 for padding. Documents have
// two to four rows, and their length changes from sequence to sequence.
inline void fill_documents(std::span<std::int32_t> documents, std::int64_t micro,
                           std::int64_t first_sample) {
  auto const sequence = static_cast<std::int64_t>(documents.size()) / micro;
  auto document = documents.begin();
  for (std::int64_t sample = first_sample; sample < first_sample + micro; ++sample) {
    auto const length = 2 + sample % 3, filled = sequence - padding_rows(sample);
    for (std::int64_t row = 0; row < sequence; ++row)
      *document++ = static_cast<std::int32_t>(row < filled ? row / length : -1);
  }
}

// Writes the position of each row in the document that fill_documents() gives it, or 0 for padding.
inline void fill_positions(std::span<std::int32_t> positions, std::int64_t micro,
                           std::int64_t first_sample) {
  auto const sequence = static_cast<std::int64_t>(positions.size()) / micro;
  auto position = positions.begin();
  for (std::int64_t sample = first_sample; sample < first_sample + micro; ++sample) {
    auto const length = 2 + sample % 3, filled = sequence - padding_rows(sample);
    for (std::int64_t row = 0; row < sequence; ++row)
      *position++ = static_cast<std::int32_t>(row < filled ? row % length : 0);
  }
}

// Fills the batch of a SequentialRun of a training graph. Tokens and targets are random, and every
// fifth row has the loss weight 0.
template <class Run>
void fill_batch(Run& run, std::mt19937& random) {
  constexpr std::int64_t first_sample = 7;
  auto const words = static_cast<std::int32_t>(vocabulary(run.graph()));
  std::uniform_int_distribution<std::int32_t> token(0, words - 1);
  for (auto const& [field, stack, tensor] : run.graph().known.batch) {
    switch (field) {
      case BatchField::tokens:
      case BatchField::targets:
        for (auto& x : run.template data<std::int32_t>(tensor)) x = token(random);
        break;
      case BatchField::documents:
        fill_documents(run.template data<std::int32_t>(tensor), run.graph().arithmetic.micro,
                       first_sample);
        break;
      case BatchField::positions:
        fill_positions(run.template data<std::int32_t>(tensor), run.graph().arithmetic.micro,
                       first_sample);
        break;
      case BatchField::token_types:
        for (int row = 0; auto& x : run.template data<std::int32_t>(tensor)) x = row++ % 3 == 2;
        break;
      case BatchField::weights:
        for (int row = 0; auto& x : run.template data<float>(tensor))
          x = row++ % 5 == 4 ? 0.0f : 1.0f;
        break;
      case BatchField::samples: {
        auto const samples = run.template data<std::int64_t>(tensor);
        std::iota(samples.begin(), samples.end(), first_sample);
        break;
      }
      case BatchField::position:
        break;
    }
  }
}

}  // namespace spillway::test
