// Describes the product of an op `matmul`.
#pragma once

#include "kernels/cuda/product_form.hpp"
#include "kernels/kernel.hpp"

namespace spillway::cuda {

// A MatmulPlan says what cublasLt makes of an op, and what is left for a kernel of this folder: to
// add a bias or an addend of bf16 to a product in fp32.
struct MatmulPlan {
  ProductForm form;
  bool adds_after = false;
};
MatmulPlan matmul_plan(KernelContext const& context, Op const& op);  // throws std::logic_error

}  // namespace spillway::cuda
