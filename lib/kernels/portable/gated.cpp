// gated: y = act(gate) up (Shazeer, arXiv:2002.05202: SwiGLU, GEGLU, ReGLU), element by element of
// two matrices that may be columns of one product.
#include "kernels/formulas/activation_reference.hpp"
#include "kernels/portable/activation_tables.hpp"
#include "kernels/portable/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::gated";

struct Extents {
  Activation form;
  LookedUp tables;
  std::int64_t rows, columns;
  std::int64_t gate_stride, up_stride, y_stride;  // from row to row
};

template <class T>
struct Operands {
  T const* gate;
  T const* up;
  T* y;

  explicit Operands(void* const* p)
      : gate(static_cast<T const*>(p[0])),
        up(static_cast<T const*>(p[1])),
        y(static_cast<T*>(p[2])) {}
};

template <class T, class Activated>
struct Gated {
  Activated activated;
  Operands<T> o;
  Extents e;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t row) const {
    auto const *const gate = o.gate + row * e.gate_stride, *const up = o.up + row * e.up_stride;
    auto* const y = o.y + row * e.y_stride;
    team.for_columns(e.columns, [=, act = activated](std::int64_t j) {
      y[j] = store<T>(act.value(gate[j]) * to_float(up[j]));
    });
  }
};

struct GatedKernel {
  static Extents prepare(KernelContext const& context, Op const& op) {
    auto const& y = op.outputs[0];
    return {attributes_of<ActivationAttributes>(op).form,
            activation_tables(context, op),
            y.shape[0],
            y.shape[1],
            row_stride(op.inputs[0]),
            row_stride(op.inputs[1]),
            row_stride(y)};
  }
  static auto typed(Op const& op) { return std::tie(op.outputs[0]); }

  template <class T>
  static void run(Exec const& exec, void* const* p, Extents const& e) {
    with_activation<T>(e.form, e.tables, [&]<class Activated>(Activated const& activated) {
      for_each_row(exec, label, e.rows, Gated<T, Activated>{activated, Operands<T>(p), e});
    });
  }

  template <class T>
  static void run_serially(void* const* p, Extents const& e) {
    Operands<T> const o(p);
    for (std::int64_t row = 0; row < e.rows; ++row)
      for (std::int64_t j = 0; j < e.columns; ++j) {
        double const gate = to_float(o.gate[row * e.gate_stride + j]);
        double const up = to_float(o.up[row * e.up_stride + j]);
        o.y[row * e.y_stride + j] =
            store<T>(static_cast<float>(reference_value(e.form, gate) * up));
      }
  }
};

}  // namespace

Kernel kernel_gated() {
  return typed_kernel<GatedKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
