// Tensors that a test has in memory, as a source.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/tensors/convert.hpp"
#include "io/tensors/tensor_source.hpp"

namespace spillway::test {

// Has zeros until a test sets `values`.
class InMemory : public TensorSource {
 public:
  explicit InMemory(std::vector<TensorEntry> entries) : m_tensors(std::move(entries)) {
    for (auto const& entry : m_tensors)
      m_values.emplace_back(static_cast<std::size_t>(element_count(entry)));
  }
  std::vector<float>& values(std::size_t tensor) { return m_values[tensor]; }

  std::string place() const override { return "memory"; }
  TensorList const& tensors() const override { return m_tensors; }
  void read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) override {
    auto const type = m_tensors[tensor].type;
    auto const count = to.size() / static_cast<std::size_t>(size_bytes({"", type, {1}}));
    from_floats(type, std::span(m_values[tensor]).subspan(static_cast<std::size_t>(first), count),
                to);
  }

 private:
  TensorList m_tensors;
  std::vector<std::vector<float>> m_values;
};

}  // namespace spillway::test
