// Words for how a step's rows are dealt out.
#pragma once

#include <string>

#include "samples/batch_shape.hpp"

namespace spillway {

// Returns lines of a page: how many micro-batches ranks run if they share unequally, and how many
// rows are empty if any is.
std::string rows_text(BatchShape const& shape);

}  // namespace spillway
