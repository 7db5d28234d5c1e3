// The op `scale` computes y = factor x for each element.
#include "kernels/portable/launch.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::scale";

struct Prepared {
  std::int64_t elements;
  float factor;
};

template <class T>
struct Scale {
  Pointers<OpKind::scale, T> o;
  float factor;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    o.y[i] = store<T>(factor * to_float(o.x[i]));
  }
};

struct ScaleKernel {
  static constexpr auto kind = OpKind::scale;

  static Prepared prepare(KernelContext const&, Op const& op) {
    require_contiguous(op);
    return {element_count(operands<kind>(op).y.shape),
            static_cast<float>(attributes_of<ScaleAttributes>(op).factor)};
  }
  static auto typed(auto const& o) { return std::tie(o.y); }

  template <class T>
  static void run(Exec const& exec, Pointers<OpKind::scale, T> const& o, Prepared const& p) {
    for_each_element(exec, label, p.elements, Scale<T>{o, p.factor});
  }

  template <class T>
  static void run_serially(Pointers<OpKind::scale, T> const& o, Prepared const& p) {
    Scale<T> const scale{o, p.factor};
    for (std::int64_t i = 0; i < p.elements; ++i) scale(i);
  }
};

}  // namespace

Kernel kernel_scale() {
  return typed_kernel<ScaleKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
