// scale: y = factor x, element by element.
#include "kernels/portable/launch.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::scale";

struct Settings {
  std::int64_t elements;
  float factor;
};

template <class T>
struct Scale {
  T const* x;
  T* y;
  float factor;

  KOKKOS_FUNCTION void operator()(std::int64_t i) const {
    y[i] = store<T>(factor * to_float(x[i]));
  }
};

template <class T>
Scale<T> operands_of(void* const* p, Settings const& s) {
  return {static_cast<T const*>(p[0]), static_cast<T*>(p[1]), s.factor};
}

struct ScaleKernel {
  static Settings prepare(KernelContext const&, Op const& op) {
    assert(all_contiguous(op));
    return {element_count(op.outputs[0].shape),
            static_cast<float>(attributes_of<ScaleAttributes>(op).factor)};
  }
  static auto typed(Op const& op) { return std::tie(op.outputs[0]); }

  template <class T>
  static void run(Exec const& exec, void* const* p, Settings const& s) {
    for_each_element(exec, label, s.elements, operands_of<T>(p, s));
  }

  template <class T>
  static void run_serially(void* const* p, Settings const& s) {
    auto const scale = operands_of<T>(p, s);
    for (std::int64_t i = 0; i < s.elements; ++i) scale(i);
  }
};

}  // namespace

Kernel kernel_scale() {
  return typed_kernel<ScaleKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
