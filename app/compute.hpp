// Which device this program computes on.
#pragma once

#include "runtime/compute.hpp"

namespace spillway {

// Returns what the ops of this process run on. Call it while a KernelScope lives.
Compute compute_here();

}  // namespace spillway
