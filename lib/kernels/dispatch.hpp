// When an op is bound, `dispatch` turns the element types of its operands into template arguments,
// so that launches need not look at types.
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

// Returns whether all operands that the op has are contiguous, so that one index addresses an
// element in each of them.
inline bool all_contiguous(Op const& op) {
  return std::ranges::all_of(present(op.inputs), is_contiguous) &&
         std::ranges::all_of(present(op.outputs), is_contiguous);
}

inline constexpr std::string_view kHasGaps = "has an operand with gaps between its elements";
inline void require_contiguous(Op const& op) {
  check(all_contiguous(op), name(op.kind), kHasGaps);
}

// Returns the number of elements from one row of the view to the next, or 0 for an absent view.
// Throws std::logic_error if a row's elements are not neighbours in memory.
inline std::int64_t row_stride(View const& view) {
  check(!is_present(view) || view.strides.back() == 1, "an operand", "its columns lie apart");
  return is_present(view) ? view.strides[0] : 0;
}

// Calls f with one argument for each given DType, in the given order: a float for f32 and a bf16
// for bf16. Only the types of these arguments matter, not their values. Returns what f returns.
// Throws std::logic_error for a DType that is neither f32 nor bf16. Example:
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
