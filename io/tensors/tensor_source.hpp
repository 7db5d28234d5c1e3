// Tensors that can be read, a range of elements at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "io/tensors/tensor_list.hpp"

namespace spillway {

// One thread at a time uses a source. It holds no values in memory.
class TensorSource {
 public:
  virtual ~TensorSource() = default;

  // The path by which the user knows it, for messages.
  virtual std::string place() const = 0;
  // In an order in which they are read fast.
  virtual TensorList const& tensors() const = 0;
  // The bytes of elements of a tensor, from `first` on, as they are stored. `to` has the size of
  // whole elements, is aligned for them, and ends within the tensor. Throws Error: storage when
  // they cannot be read, damaged when they are not what was written.
  virtual void read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) = 0;
};

// Elements [first, first + to.size()) as floats. Throws as read does, and Error(bad_input) that
// names the tensor where its elements are no floats.
void read_floats(TensorSource& source, std::size_t tensor, std::int64_t first, std::span<float> to);

}  // namespace spillway
