// Says how many bytes of workspace an op needs with the kernels of a target: "host" or an NVIDIA
// architecture. The functions are pure and ask no device, so a plan for another machine has the
// same sizes as a plan that is made on that machine.
#pragma once

#include <string_view>

#include "kernels/kernel.hpp"

namespace spillway {

// Returns the bytes of workspace for a target. Throws std::logic_error if is_target(target) is
// false. On "host" the bytes follow from the shapes, the ISA and the number of threads of
// context.arithmetic; on other targets they follow from the target, the shapes and the types alone.
std::int64_t workspace_bytes(std::string_view target, KernelContext const& context, Op const& op);
// Returns the bytes of workspace for the target that context.arithmetic.isa names, or for "host" if
// it names none.
std::int64_t workspace_bytes(KernelContext const& context, Op const& op);

// Returns the bytes of workspace for an NVIDIA architecture, such as 90 for sm_90.
// - A product gets what NVIDIA recommends for cuBLAS: 32 MiB from sm_90 on, else 4 MiB
//   (https://docs.nvidia.com/cuda/cublas/#cublassetworkspace).
// - The loss gets as much as a product, and room for the logits of the rows that it takes at a
//   time. Rows of logits take whole lines of 128 bytes even in bf16, so that products read them at
//   full speed (NVIDIA, Matrix Multiplication Background User's Guide, "Tensor Core Requirements").
//   The loss's backward pass gets room for derivatives and fp32 sums in addition.
// - An MLP by tiles gets room for what lies between its products, for the rows of a tile, and for
//   fp32 sums of gradients that are rounded (graph/mlp_tiles.hpp).
// - Reductions get room for their partial sums, whose number the shape decides, as on the host.
// - Attention keeps tiles in shared memory and needs no workspace. Its backward pass stores one
//   number for every row of every head (Dao, FlashAttention-2, arXiv:2307.08691, algorithm 2: D)
//   and, for the gradient of a bias, sums by distance for every tile of queries
//   (kernels/cuda_attention_workspace.hpp).
std::int64_t cuda_workspace_bytes(int architecture, KernelContext const& context, Op const& op);

}  // namespace spillway
