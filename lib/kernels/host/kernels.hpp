// The table of the host's kernels.
#pragma once

#include <memory>

#include "kernels/kernel_table.hpp"

namespace spillway::host {

Kernel kernel(OpKind kind);

// Makes an instance of the host's execution space; `stream` is null. It may be called only while a
// KernelScope lives.
std::unique_ptr<Exec const> make_exec(void* stream);

inline KernelTable kernels() {
  return {kernel, make_exec};
}

}  // namespace spillway::host
