// Makes a Kernel from function templates whose parameters are the element types of some operands.
#pragma once

#include <tuple>
#include <type_traits>

#include "graph/operands.hpp"
#include "kernels/dispatch.hpp"
#include "kernels/pointers.hpp"

namespace spillway {

// Says whether K's serial form takes the Exec. A trait asks it, because nvcc answers a requires
// expression within a lambda wrongly.
template <class K, class Prepared, class... T>
inline constexpr bool kSerialTakesExec =
    std::is_invocable_v<decltype(&K::template run_serially<T...>), Exec const&,
                        Pointers<K::kind, T...> const&, Prepared const&>;

// K has these static members:
// - kind is the OpKind;
// - prepare(KernelContext const&, Op const&) returns `prepared`, which is what launches need to
//   know;
// - typed(operands of the Op) returns, by std::tie, the views whose element types are T...;
// - run<T...>(Exec const&, Pointers<kind, T...> const&, prepared) is the kernel;
// - run_serially<T...>(Pointers<kind, T...> const&, prepared) is its serial form; if the host lane
//   runs it, it takes the Exec as first argument, whose pool may share the work;
// - workspace_bytes(KernelContext const&, Op const&) exists if the kernel needs scratch.
template <class K, bool kSerially>
Launch bind_typed_kernel(KernelContext const& context, Op const& op) {
  auto const bind = [&]<class... T>(T...) -> Launch {
    return [prepared = K::prepare(context, op)]([[maybe_unused]] Exec const& exec, void* const* p) {
      auto const o = Pointers<K::kind, T...>::of(p);
      if constexpr (!kSerially) {
        K::template run<T...>(exec, o, prepared);
      } else if constexpr (kSerialTakesExec<K, decltype(prepared), T...>) {
        K::template run_serially<T...>(exec, o, prepared);
      } else {
        K::template run_serially<T...>(o, prepared);
      }
    };
  };
  return std::apply([&](auto const&... views) { return dispatch(bind, dtype(context, views)...); },
                    K::typed(operands<K::kind>(op)));
}

template <class K>
Kernel typed_kernel() {
  Kernel kernel{bind_typed_kernel<K, false>, bind_typed_kernel<K, true>};
  if constexpr (requires { K::workspace_bytes; }) kernel.workspace_bytes = K::workspace_bytes;
  return kernel;
}

}  // namespace spillway
