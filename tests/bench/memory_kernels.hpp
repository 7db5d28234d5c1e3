// Memory-bound kernels at GPT-2 124M's sizes beside the machine's own rate.
#pragma once

#include "base/dtype.hpp"

namespace spillway {

// To Google Benchmark, for the element type `type`; with gradients in fp32.
void register_memory_kernels(DType type);

}  // namespace spillway
