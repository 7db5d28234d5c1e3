// One sequence of a batch, with every field that rows may have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/batch_source.hpp"

namespace spillway {

class SequenceBuffer {
 public:
  // With as many rows as `lengths` says, in every stack.
  explicit SequenceBuffer(std::span<std::int64_t const> lengths);

  BatchBuffers const& fields() const { return m_fields; }

  // Copies the fields that a batch of `micro` sequences reads into its sequence `row`. Throws
  // std::logic_error for rows of a stack that is not here or of another length.
  void copy_to(BatchBuffers const& batch, std::int64_t micro, std::int64_t row) const;

 private:
  std::vector<std::vector<std::byte>> m_bytes;  // of each field
  BatchBuffers m_fields;
};

}  // namespace spillway
