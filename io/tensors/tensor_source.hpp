// A TensorSource reads tensors, a range of elements at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "io/tensors/tensor_list.hpp"
#include "io/tensors/tensor_range.hpp"

namespace spillway {

// Only one thread at a time may use a source. A source keeps no values in memory.
class TensorSource {
 public:
  virtual ~TensorSource() = default;

  // Returns the path by which the user knows the source, for messages.
  virtual std::string place() const = 0;
  // Returns the tensors, in an order in which reading them is fast.
  virtual TensorList const& tensors() const = 0;
  // Reads elements of a tensor from `first` on, as they are stored. `to` has the size of whole
  // elements, is aligned for them, and ends within the tensor. Throws Error: storage if the bytes
  // cannot be read, damaged if a file is too short or a checksum is wrong, bad_input if a file is
  // gone.
  virtual void read(std::size_t tensor, std::int64_t first, std::span<std::byte> to) = 0;
  // Returns the elements that must be read in order so that those of `range` are verified, where a
  // source has checksums.
  virtual TensorRange verified_range(std::size_t, TensorRange range) const { return range; }
};

// Reads elements [first, first + to.size()) as floats. Throws what TensorSource::read throws, and
// Error(bad_input) that names the tensor if its elements are no floats (is_float in convert.hpp).
void read_floats(TensorSource& source, std::size_t tensor, std::int64_t first, std::span<float> to);

// Returns the elements whose bytes these are, in a tensor of f32.
inline std::span<float> floats_of(std::span<std::byte> bytes) {
  return {reinterpret_cast<float*>(bytes.data()), bytes.size() / sizeof(float)};
}

}  // namespace spillway
