// From a source to a sink.
#pragma once

#include <functional>

#include "io/tensors/convert.hpp"
#include "io/tensors/tensor_sink.hpp"
#include "io/tensors/tensor_source.hpp"

namespace spillway {

// Writes every tensor of the sink with the values of the source's tensor of that name, in a few
// megabytes of memory; bytes are equal where the type is the same. The sink is not finished. Throws
// Error(bad_input) that names the first tensor that the source has not, or has in another shape or
// in a type that would have to be converted and cannot; else what reading and writing throw.
// `told` hears of each tensor of floats, of the sink, when it is copied; what it throws ends all.
using CopiedTensor = std::function<void(TensorEntry const&, ValueCounts const&)>;
void copy_tensors(TensorSource& source, TensorSink& sink, CopiedTensor const& told);

}  // namespace spillway
