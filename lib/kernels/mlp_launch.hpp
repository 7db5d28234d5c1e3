// Makes kernels for the ops `mlp` and `mlp_backward` of kernels for the plainer ops of which their
// tiles consist (graph/mlp_tiles.hpp).
#pragma once

#include <cstdint>
#include <functional>

#include "kernels/kernel.hpp"

namespace spillway {

// `bind_part` binds the op of a tile. Throws what it throws.
Launch bind_mlp(KernelContext const& context, Op const& op,
                std::function<Launch(KernelContext const&, Op const&)> const& bind_part);

// Returns the bytes of workspace, of which the ops of tiles share what `bytes_of_part` says.
std::int64_t mlp_workspace_bytes(
    KernelContext const& context, Op const& op,
    std::function<std::int64_t(KernelContext const&, Op const&)> const& bytes_of_part);

}  // namespace spillway
