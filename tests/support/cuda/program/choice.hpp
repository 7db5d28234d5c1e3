// Lets the program on the stand-in choose algorithms of products, as it does with a GPU's kernels.
#pragma once

#include "kernels/kernel_table.hpp"

namespace spillway::test::cuda {

// Returns null if cublasLt's header is missing.
ChooseProducts choice_of_products();

}  // namespace spillway::test::cuda
