#include "base/check.hpp"
#include "kernels/cuda/choose_products.hpp"
#include "tests/support/cuda/kernel.hpp"
#include "tests/support/cuda/program/choice.hpp"

namespace spillway::test::cuda {
namespace {

Arithmetic as_on_gpu(Arithmetic arithmetic) {
  arithmetic.isa = "sm_90";
  return arithmetic;
}

ProductChoices choose(KernelContext const& context, std::span<Op const> ops,
                      std::string_view device_name, ProductChoices const& known) {
  auto const arithmetic = as_on_gpu(context.arithmetic);
  return spillway::cuda::choose_products({context.tensors, context.chunks, arithmetic}, ops,
                                         device_name, known);
}

// The stand-in's kernels are the host's and use no algorithms, but those of a GPU would.
template <OpKind kind>
Launch bind(KernelContext const& context, Op const& op) {
  auto const arithmetic = as_on_gpu(context.arithmetic);
  for (auto const& form :
       spillway::cuda::product_forms({context.tensors, context.chunks, arithmetic}, op))
    check(arithmetic.products.algorithms.contains(text(form)), "a product",
          "no algorithm was chosen for " + text(form));
  return cuda_stand_in_kernel(kind).bind(context, op);
}

Kernel kernel(OpKind kind) {
  auto result = cuda_stand_in_kernel(kind);
  if (kind == OpKind::matmul) result.bind = bind<OpKind::matmul>;
  if (kind == OpKind::lm_head_loss) result.bind = bind<OpKind::lm_head_loss>;
  if (kind == OpKind::lm_head_loss_backward) result.bind = bind<OpKind::lm_head_loss_backward>;
  if (kind == OpKind::mlp) result.bind = bind<OpKind::mlp>;
  if (kind == OpKind::mlp_backward) result.bind = bind<OpKind::mlp_backward>;
  return result;
}

}  // namespace

KernelTable choosing_kernels() {
  return {kernel, cuda_stand_in_exec, choose};
}

}  // namespace spillway::test::cuda
