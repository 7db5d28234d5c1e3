// The kernels of the ops `attention` and `attention_backward` for CUDA GPUs from sm_80 on. They
// have no serial form and no function for the workspace, whose size cuda_workspace_bytes gives
// (kernels/host/workspaces.hpp). A launch puts its work into the stream of its Exec, and never
// waits. Binding sets attributes of functions on the current device; it throws Error(bad_input) for
// what host::attention_shape refuses, and Error(device) if the device lacks shared memory.
#pragma once

#include "kernels/kernel.hpp"

namespace spillway::cuda {

Kernel kernel_attention();
Kernel kernel_attention_backward();

}  // namespace spillway::cuda
