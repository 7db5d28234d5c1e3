// The ops `mlp` and `mlp_backward` run a GPU's kernels for the ops of their tiles.
#include "kernels/cuda/kernels.hpp"
#include "kernels/mlp_launch.hpp"

namespace spillway::cuda {
namespace {

Launch bind(KernelContext const& context, Op const& op) {
  return bind_mlp(context, op, [](KernelContext const& inner, Op const& part) {
    return kernel(part.kind).bind(inner, part);
  });
}

}  // namespace

Kernel kernel_mlp() {
  return {bind, nullptr, nullptr};
}

Kernel kernel_mlp_backward() {
  return {bind, nullptr, nullptr};
}

}  // namespace spillway::cuda
