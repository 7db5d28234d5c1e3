// How much the forward pass saves for the backward pass, and what becomes of it.
#pragma once

#include <array>
#include <vector>

#include "plan/schedule/fates.hpp"

namespace spillway {

using FateBytes = EnumArray<Fate, std::int64_t, kFates>;

// Per block, of one micro-batch. What is saved belongs to the block whose backward pass reads it
// first.
std::vector<FateBytes> saved_bytes(Graph const& graph, Plan const& plan);

}  // namespace spillway
