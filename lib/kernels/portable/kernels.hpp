// Makes the kernels of this folder for one execution space of Kokkos.
#pragma once

#include <memory>
#include <optional>

#include "kernels/exec.hpp"
#include "kernels/kernel.hpp"

namespace spillway::SPILLWAY_SPACE {

#define SPILLWAY_PORTABLE(kind) Kernel kernel_##kind();
#include "kernels/portable/kinds.def"
#undef SPILLWAY_PORTABLE

std::optional<Kernel> portable_kernel(OpKind kind);  // empty if this folder has no such kernel

// Makes an Exec for the kernels of this folder, on the default instance of their execution space
// (KernelTable::exec). `stream` must be null. It may be called only while a KernelScope lives.
std::unique_ptr<Exec const> make_exec(void* stream);

}  // namespace spillway::SPILLWAY_SPACE
