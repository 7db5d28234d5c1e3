// A NamedSource has tensors of another source by other names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "huggingface/match_tensors.hpp"
#include "io/tensors/tensor_source.hpp"

namespace spillway {

// A NamedSource has only the tensors in `names`, in the order of `names`. The source must outlive
// it.
class NamedSource : public TensorSource {
 public:
  NamedSource(TensorSource& source, std::vector<NamedTensor> const& names);

  std::string place() const override { return m_source.place(); }
  TensorList const& tensors() const override { return m_tensors; }
  void read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) override;

 private:
  TensorSource& m_source;
  TensorList m_tensors;
  std::vector<std::size_t> m_numbers;  // the number of each tensor in the source
};

// Returns whether two tensors have one shape and, as floats, the same bits. Reads a few megabytes
// at a time. Throws what read_floats throws.
bool have_equal_values(TensorSource& source, std::size_t one, std::size_t other);

}  // namespace spillway
