#include "samples/sequence_buffer.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

namespace spillway {

SequenceBuffer::SequenceBuffer(std::span<std::int64_t const> lengths) : m_fields({}) {
  std::vector<BatchBuffers::Field> fields;
  for (int stack = 0; stack < static_cast<int>(lengths.size()); ++stack) {
    for (auto const& [field, _, dtype, extent] : kBatchFields) {
      if (extent != BatchExtent::rows) continue;
      auto const bytes = lengths[static_cast<std::size_t>(stack)] * size_bytes(dtype);
      m_bytes.emplace_back(static_cast<std::size_t>(bytes));
      fields.push_back({field, stack, m_bytes.back()});
    }
  }
  m_fields = BatchBuffers(std::move(fields));
}

void SequenceBuffer::copy_to(BatchBuffers const& batch, std::int64_t micro,
                             std::int64_t row) const {
  for (auto const& [field, stack, to] : batch.fields()) {
    if (row_of(field).extent != BatchExtent::rows) continue;
    auto const from = m_fields.bytes(field, stack);
    if (from.empty() || to.size() != from.size() * static_cast<std::size_t>(micro)) {
      throw std::logic_error(
          fmt::format("{} of stack {}: a batch of {} sequences has {} bytes, "
                      "a sequence {}",
                      row_of(field).name, stack, micro, to.size(), from.size()));
    }
    std::ranges::copy(from, to.begin() + row * std::ssize(from));
  }
}

}  // namespace spillway
