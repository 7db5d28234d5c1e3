// Defines kernels that make each element of an output from the same element of their operands.
#pragma once

#include <type_traits>

#include "kernels/dispatch.hpp"
#include "kernels/host_pieces.hpp"
#include "kernels/kernel.hpp"
#include "kernels/portable/launch.hpp"

namespace spillway::SPILLWAY_SPACE {

// Computes output[i] from first[i], or from first[i] and second[i], in fp32 and rounds it once.
template <class T, class Formula>
struct Elementwise {
  T const* first;
  T const* second;
  T* output;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if constexpr (std::is_invocable_v<Formula, float>) {
      output[i] = store<T>(Formula{}(to_float(first[i])));
    } else {
      output[i] = store<T>(Formula{}(to_float(first[i]), to_float(second[i])));
    }
  }
};

// `output` is the index of the output in p. A formula of one argument never reads p[1].
template <class T, class Formula>
Elementwise<T, Formula> elementwise(void* const* p, std::size_t output) {
  return {static_cast<T const*>(p[0]), static_cast<T const*>(p[1]), static_cast<T*>(p[output])};
}

template <class Formula, Label const& label>
Launch bind_elementwise(KernelContext const& context, Op const& op) {
  assert(all_contiguous(op));
  auto const launch = [n = element_count(op.outputs[0].shape),
                       output = op.inputs.size()]<class T>(T) {
    return Launch([n, output](Exec const& exec, void* const* p) {
      for_each_element(exec, label, n, elementwise<T, Formula>(p, output));
    });
  };
  return dispatch(launch, dtype(context, op.outputs[0]));
}

template <class Formula>
Launch serial_elementwise(KernelContext const& context, Op const& op) {
  auto const launch = [n = element_count(op.outputs[0].shape),
                       output = op.inputs.size()]<class T>(T) {
    return Launch([n, output](Exec const& exec, void* const* p) {
      auto const element = elementwise<T, Formula>(p, output);
      for_each_piece(exec, n, kPieceElements, [&element](std::int64_t first, std::int64_t last) {
        for (auto i = first; i < last; ++i) element(i);
      });
    });
  };
  return dispatch(launch, dtype(context, op.outputs[0]));
}

// `Formula` makes the kernel, and `Reference` makes its serial form.
template <class Formula, class Reference, Label const& label>
Kernel elementwise_kernel() {
  return {bind_elementwise<Formula, label>, serial_elementwise<Reference>};
}

}  // namespace spillway::SPILLWAY_SPACE
