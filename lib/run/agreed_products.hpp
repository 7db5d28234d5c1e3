// Chooses how the matrix products of a run are made on a device, alike on all ranks.
#pragma once

#include <span>

#include "comm/comm.hpp"
#include "graph/graph.hpp"
#include "runtime/compute.hpp"

namespace spillway {

// Returns Arithmetic::products for these graphs, as rank 0's device chooses it. `known` are the
// choices of an earlier run; those that fit are kept. The result is empty if the kernels of
// `compute` choose nothing. All ranks must call this. Throws AgreedError(device).
ProductChoices agreed_products(std::span<Graph const* const> graphs, Compute const& compute,
                               ProductChoices const& known, Comm& comm);

}  // namespace spillway
