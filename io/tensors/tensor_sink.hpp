// A TensorSink writes tensors, a range of elements at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "io/tensors/tensor_list.hpp"

namespace spillway {

// All tensors are declared when a sink is made. Only one thread at a time may use a sink. Files get
// their final names in `finish`, so that nobody takes them for complete before. A sink that is
// destroyed without `finish` removes what it wrote.
class TensorSink {
 public:
  virtual ~TensorSink() = default;

  virtual TensorList const& tensors() const = 0;
  // Writes whole elements of a tensor, from `first` on. The caller writes every element once, in
  // any order. Throws Error(storage) if writing fails.
  virtual void write(std::size_t tensor, std::int64_t first, std::span<std::byte const> from) = 0;
  // Call `finish` once every element has been written. It returns when all data is on storage under
  // its final name. Throws Error(storage) if that fails.
  virtual void finish() = 0;
};

// Writes elements [first, first + from.size()), rounded to the tensor's type, which must be a type
// of floats (is_float in convert.hpp).
void write_floats(TensorSink& sink, std::size_t tensor, std::int64_t first,
                  std::span<float const> from);

}  // namespace spillway
