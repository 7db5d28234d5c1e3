// Tensors of another source by other names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "huggingface/match_tensors.hpp"
#include "io/tensors/tensor_source.hpp"

namespace spillway {

// Has these tensors alone, in this order. The source must outlive it.
class NamedSource : public TensorSource {
 public:
  NamedSource(TensorSource& source, std::vector<NamedTensor> const& names);

  std::string place() const override { return m_source.place(); }
  TensorList const& tensors() const override { return m_tensors; }
  void read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) override;

 private:
  TensorSource& m_source;
  TensorList m_tensors;
  std::vector<std::size_t> m_numbers;  // in the source
};

// Whether two tensors have one shape and, as floats, the same bits. Reads in tiles of a few
// megabytes. Throws what read_floats throws.
bool have_equal_values(TensorSource& source, std::size_t one, std::size_t other);

}  // namespace spillway
