// Defines the fields of the data that a micro-batch brings, as one table.
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
  // Holds the number of each row's document within its sequence; -1 marks padding. A document has
  // the same number in every stack. Attention takes these numbers as segments. A document starts
  // where the number changes.
  documents,
  // Holds each row's position in its document or, when generating, in the cache; 0 in padding.
  positions,
  token_types,  // which sentence of a pair a token belongs to; batches always bring 0
  targets,      // ids of the tokens to predict
  weights,      // loss weights; 0 for padding and for samples beyond the step's batch
  // Holds the number of each sample, counted over all ranks since step 0. Dropout's random numbers
  // follow from it.
  samples,
  position,  // the row that the op `select_row` picks, when generating
};

enum class BatchExtent : std::uint8_t { rows, sequences, one };  // `rows` means micro x sequence

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

// A Stack is the rows that one embedding makes: `micro` sequences of one length. A model has one
// stack or, with an encoder and a decoder, two, and each stack has batch fields of its own.
struct Stack {
  int number = 0;
  std::int64_t sequence = 0;
  std::int64_t cache_rows = 0;  // rows whose keys and values are kept when generating, or 0
};

// Says which tensor of a graph holds a batch field of one of its stacks.
struct BatchTensor {
  BatchField field;
  int stack = 0;
  TensorId tensor = -1;
  bool operator==(BatchTensor const&) const = default;
};

}  // namespace spillway
