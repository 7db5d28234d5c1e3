// Gives the KernelTable whose kernels run on the host's cores.
#pragma once

#include <memory>

#include "kernels/kernel_table.hpp"

namespace spillway::host {

Kernel kernel(OpKind kind);

// Makes an Exec for the host's execution space of Kokkos, while a KernelScope lives. Throws
// std::logic_error if `stream` is not null.
std::unique_ptr<Exec const> make_exec(void* stream);

inline KernelTable kernels() {
  return {kernel, make_exec};
}

}  // namespace spillway::host
