// The table of the host's kernels.
#pragma once

#include <memory>

#include "kernels/kernel_table.hpp"

namespace spillway::host {

Kernel kernel(OpKind kind);

// An instance of the host's execution space; `stream` is null. Only while a KernelScope lives.
std::unique_ptr<Exec const> make_exec(void* stream);

inline KernelTable kernels() {
  return {kernel, make_exec};
}

}  // namespace spillway::host
