// Copies tensors from a source to a sink.
#pragma once

#include <functional>

#include "io/tensors/convert.hpp"
#include "io/tensors/tensor_sink.hpp"
#include "io/tensors/tensor_source.hpp"

namespace spillway {

// Writes every tensor of the sink with the values of the source's tensor of that name, in a few
// megabytes of memory. If the types are equal, bytes are copied. Calling `finish` of the sink is
// left to the caller. Throws Error(bad_input) that names the first tensor which the source lacks or
// has in another shape or in a type that cannot be converted, and what reading and writing throw.
// `told` is called after each tensor of the sink whose elements are floats has been copied; if
// `told` throws, copying ends.
using CopiedTensor = std::function<void(TensorEntry const&, ValueCounts const&)>;
void copy_tensors(TensorSource& source, TensorSink& sink, CopiedTensor const& told);

}  // namespace spillway
