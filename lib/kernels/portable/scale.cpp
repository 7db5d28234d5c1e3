// The op `scale` computes y = factor x for each element, and may round it to y's type.
#include "kernels/portable/launch.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::scale";

struct Prepared {
  std::int64_t elements;
  float factor;
};

template <class T, class Y>
struct Scale {
  Pointers<OpKind::scale, T, Y> o;
  float factor;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    o.y[i] = store<Y>(factor * to_float(o.x[i]));
  }
};

struct ScaleKernel {
  static constexpr auto kind = OpKind::scale;

  static Prepared prepare(KernelContext const&, Op const& op) {
    require_contiguous(op);
    return {element_count(operands<kind>(op).y.shape),
            static_cast<float>(attributes_of<ScaleAttributes>(op).factor)};
  }
  static auto typed(auto const& o) { return std::tie(o.x, o.y); }

  template <class T, class Y>
  static void run(Exec const& exec, Pointers<OpKind::scale, T, Y> const& o, Prepared const& p) {
    for_each_element(exec, label, p.elements, Scale<T, Y>{o, p.factor});
  }

  template <class T, class Y>
  static void run_serially(Pointers<OpKind::scale, T, Y> const& o, Prepared const& p) {
    Scale<T, Y> const scale{o, p.factor};
    for (std::int64_t i = 0; i < p.elements; ++i) scale(i);
  }
};

}  // namespace

Kernel kernel_scale() {
  return typed_kernel<ScaleKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
