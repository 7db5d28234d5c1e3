// Gives the table of the host's kernels.
#pragma once

#include <memory>

#include "kernels/kernel_table.hpp"

namespace spillway::host {

Kernel kernel(OpKind kind);

// Makes an Exec for the host's execution space of Kokkos. `stream` must be null. It may be called
// only while a KernelScope lives.
std::unique_ptr<Exec const> make_exec(void* stream);

inline KernelTable kernels() {
  return {kernel, make_exec};
}

}  // namespace spillway::host
