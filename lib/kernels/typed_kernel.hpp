// Makes kernels of function templates over the element types of some operands.
#pragma once

#include <tuple>

#include "kernels/dispatch.hpp"

namespace spillway {

// K has these static members:
// - prepare(KernelContext const&, Op const&) gives what launches need to know;
// - typed(Op const&) gives, by std::tie, the views whose element types are T...;
// - run<T...>(Exec const&, void* const* p, prepared) is the kernel;
// - run_serially<T...>(void* const* p, prepared) is its reference; if the host lane runs it, it
//   takes the Exec as first argument, whose pool may share the work;
// - workspace_bytes(KernelContext const&, Op const&) exists if the kernel needs scratch.
template <class K, bool kSerially>
Launch bind_typed_kernel(KernelContext const& context, Op const& op) {
  auto const bind = [&]<class... T>(T...) -> Launch {
    return [prepared = K::prepare(context, op)]([[maybe_unused]] Exec const& exec, void* const* p) {
      if constexpr (!kSerially) {
        K::template run<T...>(exec, p, prepared);
      } else if constexpr (requires { K::template run_serially<T...>(exec, p, prepared); }) {
        K::template run_serially<T...>(exec, p, prepared);
      } else {
        K::template run_serially<T...>(p, prepared);
      }
    };
  };
  return std::apply([&](auto const&... views) { return dispatch(bind, dtype(context, views)...); },
                    K::typed(op));
}

template <class K>
Kernel typed_kernel() {
  Kernel kernel{bind_typed_kernel<K, false>, bind_typed_kernel<K, true>};
  if constexpr (requires { K::workspace_bytes; }) kernel.workspace_bytes = K::workspace_bytes;
  return kernel;
}

}  // namespace spillway
