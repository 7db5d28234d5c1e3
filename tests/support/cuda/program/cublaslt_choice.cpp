#include "kernels/cuda/choose_products.hpp"
#include "tests/support/cuda/program/choice.hpp"

namespace spillway::test::cuda {
namespace {

// The stand-in's kernels are the host's and need no choices, but runs make and keep them, for
// products as an H100 has them.
ProductChoices choose_as_on_gpu(KernelContext const& context, std::span<Op const> ops,
                                std::string_view device_name, ProductChoices const& known) {
  auto arithmetic = context.arithmetic;
  arithmetic.isa = "sm_90";
  return spillway::cuda::choose_products({context.tensors, context.chunks, arithmetic}, ops,
                                         device_name, known);
}

}  // namespace

ChooseProducts choice_of_products() {
  return choose_as_on_gpu;
}

}  // namespace spillway::test::cuda
