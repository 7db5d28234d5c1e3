// A SequenceBuffer holds one sequence of a batch, with every field that has a value for each row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/batch_source.hpp"

namespace spillway {

class SequenceBuffer {
 public:
  // `lengths` has the number of rows in each stack.
  explicit SequenceBuffer(std::span<std::int64_t const> lengths);

  BatchBuffers const& fields() const { return m_fields; }

  // Copies the fields that a batch of `micro` sequences has into its sequence `row`. Throws
  // std::logic_error if the batch has a stack that is not here, or rows of another length.
  void copy_to(BatchBuffers const& batch, std::int64_t micro, std::int64_t row) const;

 private:
  std::vector<std::vector<std::byte>> m_bytes;  // the bytes of each field
  BatchBuffers m_fields;
};

}  // namespace spillway
