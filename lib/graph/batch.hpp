// Defines what a micro-batch brings, as one table of fields.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "base/dtype.hpp"
#include "graph/tensor.hpp"

namespace spillway {

enum class BatchField : std::uint8_t {
  tokens,  // token ids
  // Numbers a row's document within its sequence, alike in every stack; -1 marks padding. Attention
  // takes these as segments, and a document starts where the number changes.
  documents,
  positions,    // of a row in its document or, to generate, in the cache; 0 in padding
  token_types,  // which of a pair's two sentences a token is of; 0 in batches of a text
  targets,      // ids of the tokens to predict
  weights,      // loss weights; 0 for padding and for samples beyond the batch
  samples,      // global sample numbers since step 0, from which randomness follows
  position,     // the row that `select_row` picks (generate)
};

enum class BatchExtent : std::uint8_t { rows, sequences, one };  // `rows` is micro x sequence

struct BatchFieldRow {
  BatchField field;
  std::string_view name;
  DType dtype;
  BatchExtent extent;
};

inline constexpr std::array kBatchFields = {
    BatchFieldRow{BatchField::tokens, "tokens", DType::i32, BatchExtent::rows},
    BatchFieldRow{BatchField::documents, "documents", DType::i32, BatchExtent::rows},
    BatchFieldRow{BatchField::positions, "positions", DType::i32, BatchExtent::rows},
    BatchFieldRow{BatchField::token_types, "token_types", DType::i32, BatchExtent::rows},
    BatchFieldRow{BatchField::targets, "targets", DType::i32, BatchExtent::rows},
    BatchFieldRow{BatchField::weights, "weights", DType::f32, BatchExtent::rows},
    BatchFieldRow{BatchField::samples, "samples", DType::i64, BatchExtent::sequences},
    BatchFieldRow{BatchField::position, "position", DType::i32, BatchExtent::one},
};

static_assert([] {
  for (std::size_t i = 0; i < kBatchFields.size(); ++i)
    if (static_cast<std::size_t>(kBatchFields[i].field) != i) return false;
  return true;
}());

constexpr BatchFieldRow const& row_of(BatchField field) {
  return kBatchFields[static_cast<std::size_t>(field)];
}

template <BatchField field>
using BatchElement =
    std::conditional_t<row_of(field).dtype == DType::i32, std::int32_t,
                       std::conditional_t<row_of(field).dtype == DType::f32, float, std::int64_t>>;

// Describes the rows that one embedding makes: `micro` sequences of one length. A family has one
// stack, or an encoder's and a decoder's, each with fields of its own.
struct Stack {
  int number = 0;
  std::int64_t sequence = 0;
  std::int64_t cached = 0;  // rows whose keys and values are kept to generate; 0: none are
};

// Names the tensor of a field that a graph reads for one of its stacks.
struct BatchTensor {
  BatchField field;
  int stack = 0;
  TensorId tensor = -1;
  bool operator==(BatchTensor const&) const = default;
};

}  // namespace spillway
