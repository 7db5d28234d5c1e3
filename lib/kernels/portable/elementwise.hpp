// Defines kernels that make each element of an output from the elements of inputs that have the
// same index.
#pragma once

#include <type_traits>

#include "graph/operands.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/host_pieces.hpp"
#include "kernels/kernel.hpp"
#include "kernels/pointers.hpp"
#include "kernels/portable/launch.hpp"

namespace spillway::SPILLWAY_SPACE {

// Points to the arrays of a formula's arguments and of its results.
template <class T>
struct Places {
  T const* first;
  T const* second;  // null if the formula has one argument
  T* output;
};
template <class T>
Places<T> places(Pointers<OpKind::add, T> const& o) {
  return {o.a, o.b, o.c};
}
template <class T>
Places<T> places(Pointers<OpKind::accumulate, T> const& o) {
  return {o.fresh, o.sum, o.sum};
}
template <class T>
Places<T> places(Pointers<OpKind::activation, T> const& o) {
  return {o.f, nullptr, o.g};
}
template <class T>
Places<T> places(Pointers<OpKind::activation_backward, T> const& o) {
  return {o.f, o.dg, o.df};
}

// Computes output[i] from first[i], or from first[i] and second[i], in fp32 and rounds the result
// once.
template <class T, class Formula>
struct Elementwise {
  Places<T> at;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    if constexpr (std::is_invocable_v<Formula, float>) {
      at.output[i] = store<T>(Formula{}(to_float(at.first[i])));
    } else {
      at.output[i] = store<T>(Formula{}(to_float(at.first[i]), to_float(at.second[i])));
    }
  }
};

template <OpKind kind, class Formula, Label const& label>
Launch bind_elementwise(KernelContext const& context, Op const& op) {
  require_contiguous(op);
  auto const launch = [n = element_count(op.outputs.front().shape)]<class T>(T) {
    return Launch([n](Exec const& exec, void* const* p) {
      for_each_element(exec, label, n, Elementwise<T, Formula>{places(Pointers<kind, T>::of(p))});
    });
  };
  return dispatch(launch, dtype(context, op.outputs.front()));
}

template <OpKind kind, class Formula>
Launch serial_elementwise(KernelContext const& context, Op const& op) {
  auto const launch = [n = element_count(op.outputs.front().shape)]<class T>(T) {
    return Launch([n](Exec const& exec, void* const* p) {
      Elementwise<T, Formula> const element{places(Pointers<kind, T>::of(p))};
      for_each_piece(exec, n, kPieceElements, [&element](std::int64_t first, std::int64_t last) {
        for (auto i = first; i < last; ++i) element(i);
      });
    });
  };
  return dispatch(launch, dtype(context, op.outputs.front()));
}

// Returns a kernel that computes Formula, and whose serial form computes Reference.
template <OpKind kind, class Formula, class Reference, Label const& label>
Kernel elementwise_kernel() {
  return {bind_elementwise<kind, Formula, label>, serial_elementwise<kind, Reference>};
}

}  // namespace spillway::SPILLWAY_SPACE
