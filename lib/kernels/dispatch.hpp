// From the element type of an operand to a template argument, once, when an op is bound.
#pragma once

#include <algorithm>
#include <type_traits>

#include "base/bf16.hpp"
#include "base/check.hpp"
#include "kernels/kernel.hpp"

namespace spillway {

inline DType dtype(KernelContext const& context, View const& view) {
  return context.tensors[static_cast<std::size_t>(view.tensor)].dtype;
}

// What kernels that number the elements of their operands straight through rely on.
inline bool all_contiguous(Op const& op) {
  return std::ranges::all_of(present(op.inputs), is_contiguous) &&
         std::ranges::all_of(present(op.outputs), is_contiguous);
}

inline constexpr std::string_view kHasGaps = "has an operand with gaps between its elements";
inline void require_contiguous(Op const& op) {
  check(all_contiguous(op), name(op.kind), kHasGaps);
}

// How many elements lie from one row to the next, whose columns are neighbours; 0 for an absent
// view.
inline std::int64_t row_stride(View const& view) {
  check(!is_present(view) || view.strides.back() == 1, "an operand", "its columns lie apart");
  return is_present(view) ? view.strides[0] : 0;
}

// Calls f(T{}, ...) with T = float or bf16 for every one of `types`, in their order. Example:
//   return dispatch([&]<class T, class G>(T, G) { return bind_typed<T, G>(op); }, t, g);
template <class F>
auto dispatch(F const& f) {
  return f();
}
template <class F, class... More>
auto dispatch(F const& f, DType type, More... more) {
  auto const with = [&]<class T>(T first) {
    return dispatch([&](auto... rest) { return f(first, rest...); }, more...);
  };
  check(type == DType::f32 || type == DType::bf16, name(type), "no kernel computes with it");
  return type == DType::bf16 ? with(bf16{}) : with(float{});
}

}  // namespace spillway
