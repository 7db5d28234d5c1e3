// Divides the workspace of the loss among its parts on NVIDIA GPUs. The program, which plans
// memory, and the kernels, which may be in a module of their own, both use these functions.
#pragma once

#include <cstdint>

#include "kernels/kernel.hpp"

namespace spillway {

// The alignment of workspaces that cuBLAS wants, and so of the parts of one.
inline constexpr std::int64_t kWorkspaceAlignment = 256;

// Holds byte offsets, of which all but `logits` (0) are multiples of 256, as products want it. A
// part that the op lacks has no bytes, and begins where the next part does.
struct CudaLossWorkspace {
  std::int64_t row_stride = 0;  // from one row of logits, or of their derivatives, to the next
  // The derivatives with respect to logits. In fp32 they replace the logits.
  std::int64_t slopes = 0;
  std::int64_t sum = 0;        // the fp32 sum for dw, with the shape of w, if dw is rounded
  std::int64_t bias_sums = 0;  // sums for dbias [portions, vocab] in fp32
  std::int64_t scratch = 0;    // the workspace of products, which comes last
};

// Returns the parts for an `lm_head_loss` or an `lm_head_loss_backward`.
CudaLossWorkspace cuda_loss_workspace(KernelContext const& context, Op const& op);

// Returns how many bytes of workspace a product may take.
constexpr std::int64_t cuda_product_bytes(int architecture) {
  return std::int64_t{architecture >= 90 ? 32 : 4} << 20;
}

}  // namespace spillway
