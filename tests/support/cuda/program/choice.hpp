// Lets the program on the stand-in choose algorithms of products, as it does with a GPU's kernels.
#pragma once

#include "kernels/kernel_table.hpp"

namespace spillway::test::cuda {

// Returns the stand-in's kernels. Where cublasLt's header is there, products are chosen for an
// sm_90, and the kernels refuse ops for whose products Arithmetic has no algorithms.
KernelTable choosing_kernels();

}  // namespace spillway::test::cuda
