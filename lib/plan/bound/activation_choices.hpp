// Writes what a plan may do with activations as variables of BoundRows.
#pragma once

#include "plan/bound/bound_rows.hpp"

namespace spillway {

// Adds what the forward passes of these blocks make for their backward passes. Every part of it may
// be treated differently.
void add_activations(BoundRows& rows, BoundQuestion const& question, SavedKind const& kind);

}  // namespace spillway
