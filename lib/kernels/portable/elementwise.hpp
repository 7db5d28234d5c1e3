// Defines kernels that make each element of an output from the elements of inputs that have the
// same index.
#pragma once

#include <cstdint>
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

// Computes, on a device, as many neighbouring elements as 16 bytes have. A thread that took one
// would ask for too few bytes at a time: memory answers late, and a device holds only so many
// threads.
template <class T, class Formula>
struct ElementsOfThread {
  static constexpr std::int64_t kElements = 16 / sizeof(T);
  struct alignas(16) Group {
    T at[kElements];
  };

  Elementwise<T, Formula> one;
  std::int64_t n;
  bool is_aligned;  // whether all arrays begin at a multiple of 16 bytes

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    auto const first = i * kElements, last = first + kElements < n ? first + kElements : n;
    if (is_aligned && last - first == kElements) return compute_group(first);
    for (auto j = first; j < last; ++j) one(j);
  }

 private:
  KOKKOS_FUNCTION void compute_group(std::int64_t first) const {
    auto const a = group(one.at.first + first);
    Group result;
    if constexpr (std::is_invocable_v<Formula, float>) {
      for (int k = 0; k < kElements; ++k) result.at[k] = store<T>(Formula{}(to_float(a.at[k])));
    } else {
      auto const b = group(one.at.second + first);
      for (int k = 0; k < kElements; ++k)
        result.at[k] = store<T>(Formula{}(to_float(a.at[k]), to_float(b.at[k])));
    }
    *reinterpret_cast<Group*>(one.at.output + first) = result;
  }
  KOKKOS_FUNCTION static Group group(T const* from) {
    return *reinterpret_cast<Group const*>(from);
  }
};

template <class T, class Formula>
void launch_elementwise(Exec const& exec, Label const& label, std::int64_t n,
                        Places<T> const& places) {
  Elementwise<T, Formula> const one{places};
  if constexpr (kLikeDevice) {
    using Elements = ElementsOfThread<T, Formula>;
    bool is_aligned = true;
    for (void const* const array :
         {static_cast<void const*>(places.first), static_cast<void const*>(places.second),
          static_cast<void const*>(places.output)})
      is_aligned = is_aligned && reinterpret_cast<std::uintptr_t>(array) % 16 == 0;
    for_each_unit(exec, label, div_ceil(n, Elements::kElements), Elements{one, n, is_aligned});
  } else {
    for_each_element(exec, label, n, one);
  }
}

template <OpKind kind, class Formula, Label const& label>
Launch bind_elementwise(KernelContext const& context, Op const& op) {
  require_contiguous(op);
  auto const launch = [n = element_count(op.outputs.front().shape)]<class T>(T) {
    return Launch([n](Exec const& exec, void* const* p) {
      launch_elementwise<T, Formula>(exec, label, n, places(Pointers<kind, T>::of(p)));
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
