// The ops `mlp` and `mlp_backward` run the host's kernels for the ops of their tiles.
#include "kernels/host/kernels.hpp"
#include "kernels/mlp_launch.hpp"

namespace spillway::host {
namespace {

Launch bind(KernelContext const& context, Op const& op) {
  return bind_mlp(context, op, [](KernelContext const& inner, Op const& part) {
    return kernel(part.kind).bind(inner, part);
  });
}

Launch serial(KernelContext const& context, Op const& op) {
  return bind_mlp(context, op, [](KernelContext const& inner, Op const& part) {
    return kernel(part.kind).serial(inner, part);
  });
}

std::int64_t workspace(KernelContext const& context, Op const& op) {
  return mlp_workspace_bytes(context, op, [](KernelContext const& inner, Op const& part) {
    auto const bytes = kernel(part.kind).workspace_bytes;
    return bytes ? bytes(inner, part) : 0;
  });
}

}  // namespace

Kernel kernel_mlp() {
  return {bind, serial, workspace};
}

Kernel kernel_mlp_backward() {
  return {bind, serial, workspace};
}

}  // namespace spillway::host
