// Tensors that are written, a range of elements at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "io/tensors/tensor_list.hpp"

namespace spillway {

// All tensors are declared where a sink is made. One thread at a time uses it. Nobody finds the
// tensors before all of them are there; a sink that goes without `finish` removes what it wrote.
class TensorSink {
 public:
  virtual ~TensorSink() = default;

  virtual TensorList const& tensors() const = 0;
  // The bytes of whole elements of a tensor, from `first` on. Every element is written once, in any
  // order. Throws Error(storage).
  virtual void write(std::size_t tensor, std::int64_t first, std::span<std::byte const> from) = 0;
  // Every element must have been written. Returns when all is on storage under its final name.
  // Throws Error(storage).
  virtual void finish() = 0;
};

// Elements [first, first + from.size()), rounded to the tensor's type (convert.hpp), which must be
// of floats.
void write_floats(TensorSink& sink, std::size_t tensor, std::int64_t first,
                  std::span<float const> from);

}  // namespace spillway
