// A BatchSource provides the data of the engine's `load_batch` items.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/batch.hpp"

namespace spillway {

// Tells a BatchSource where in the engine's memory to write one micro-batch of this rank. It has
// only the fields that the Program reads.
class BatchBuffers {
 public:
  struct Field {
    BatchField field;
    int stack;
    std::span<std::byte> bytes;
  };
  explicit BatchBuffers(std::vector<Field> fields) : m_fields(std::move(fields)) {}

  std::span<Field const> fields() const { return m_fields; }
  // Returns the bytes of a field, or an empty span if the Program does not read the field.
  std::span<std::byte> bytes(BatchField field, int stack) const {
    for (Field const& one : m_fields) {
      if (one.field == field && one.stack == stack) return one.bytes;
    }
    return {};
  }
  template <BatchField field>
  std::span<BatchElement<field>> get(int stack = 0) const {
    using T = BatchElement<field>;
    auto const found = bytes(field, stack);
    return {reinterpret_cast<T*>(found.data()), found.size() / sizeof(T)};
  }

 private:
  std::vector<Field> m_fields;
};

class BatchSource {
 public:
  virtual ~BatchSource() = default;
  // Fills every field completely. Equal `step` and `micro_batch` must give equal data, however
  // often they are asked for. Runs on a thread of the engine. What it throws ends the step, and
  // Engine::run_step throws it on the caller's thread.
  virtual void load(std::int64_t step, std::int64_t micro_batch, BatchBuffers const& to) = 0;
};

}  // namespace spillway
