// Lets tools of Kokkos (KOKKOS_TOOLS_LIBS) see ops by their names.
#pragma once

#include "graph/op.hpp"
#include "kernels/kernel.hpp"

namespace spillway::SPILLWAY_SPACE {

// Returns a launch that tools see as a region called as in `plan --items`, such as "matmul h.3/fc".
// If `launches_none`, the op does its work without Kokkos, and tools see it as a kernel, too. If no
// tool is loaded, which is known once Kokkos is initialized, returns `launch` as it is.
Launch in_region(Op const& op, bool launches_none, Launch launch);

}  // namespace spillway::SPILLWAY_SPACE
