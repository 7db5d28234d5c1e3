// Says how many bytes of workspace an op needs with the kernels of a target. Sizes are pure
// functions: they ask no device, and plans for a machine that is not here have the sizes of those
// that are made there.
#pragma once

#include <string_view>

#include "kernels/kernel.hpp"

namespace spillway {

// `target` is one that is_target() knows. On "host" the sizes follow from the shapes, the ISA and
// the number of threads of context.arithmetic; elsewhere they follow from the shapes alone.
std::int64_t workspace_bytes(std::string_view target, KernelContext const& context, Op const& op);
// Takes the target that context.arithmetic.isa names.
std::int64_t workspace_bytes(KernelContext const& context, Op const& op);

// Sizes for an NVIDIA architecture, such as 90.
// - A product gets what NVIDIA recommends for cuBLAS: 32 MiB from sm_90 on, else 4 MiB
//   (https://docs.nvidia.com/cuda/cublas/#cublassetworkspace).
// - The head gets a product's workspace beside the logits of a chunk, whose rows take whole lines
//   of 128 bytes even in bf16, so that products read them at full speed (NVIDIA, Matrix
//   Multiplication Background User's Guide, "Tensor Core Requirements").
// - Reductions get their partial sums, whose number the shape decides, as on the host.
// - attention keeps tiles in shared memory. Its backward has a number for every row of every head
//   (Dao, FlashAttention-2, arXiv:2307.08691, algorithm 2: D), and for the gradient of a bias the
//   sums of every tile of `kCudaQueryTile` queries by distance.
std::int64_t cuda_workspace_bytes(int architecture, KernelContext const& context, Op const& op);
inline constexpr std::int64_t kCudaQueryTile = 64;

}  // namespace spillway
