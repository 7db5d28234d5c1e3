// gated_backward: dgate = act'(gate) up dy, dup = act(gate) dy, element by element.
#include "kernels/formulas/activation_reference.hpp"
#include "kernels/portable/activation_tables.hpp"
#include "kernels/portable/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::gated_backward";

struct Extents {
  Activation form;
  LookedUp tables;
  std::int64_t rows, columns;
  std::int64_t gate_stride, up_stride, dy_stride, dgate_stride, dup_stride;  // from row to row
};

template <class T>
struct Operands {
  T const* gate;
  T const* up;
  T const* dy;
  T* dgate;
  T* dup;

  explicit Operands(void* const* p)
      : gate(static_cast<T const*>(p[0])),
        up(static_cast<T const*>(p[1])),
        dy(static_cast<T const*>(p[2])),
        dgate(static_cast<T*>(p[3])),
        dup(static_cast<T*>(p[4])) {}

  KOKKOS_FUNCTION Operands row(std::int64_t row, Extents const& e) const {
    Operands o = *this;
    o.gate += row * e.gate_stride;
    o.up += row * e.up_stride;
    o.dy += row * e.dy_stride;
    o.dgate += row * e.dgate_stride;
    o.dup += row * e.dup_stride;
    return o;
  }
};

template <class T, class Activated>
struct GatedBackward {
  Activated activated;
  Operands<T> o;
  Extents e;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t row) const {
    auto const [gate, up, dy, dgate, dup] = o.row(row, e);
    team.for_columns(e.columns, [=, act = activated](std::int64_t j) {
      float const incoming = to_float(dy[j]);
      dgate[j] = store<T>(act.slope(gate[j]) * to_float(up[j]) * incoming);
      dup[j] = store<T>(act.value(gate[j]) * incoming);
    });
  }
};

struct GatedBackwardKernel {
  static Extents prepare(KernelContext const& context, Op const& op) {
    auto const& dgate = op.outputs[0];
    return {attributes_of<ActivationAttributes>(op).form,
            activation_tables(context, op),
            dgate.shape[0],
            dgate.shape[1],
            row_stride(op.inputs[0]),
            row_stride(op.inputs[1]),
            row_stride(op.inputs[2]),
            row_stride(dgate),
            row_stride(op.outputs[1])};
  }
  static auto typed(Op const& op) { return std::tie(op.outputs[0]); }

  template <class T>
  static void run(Exec const& exec, void* const* p, Extents const& e) {
    with_activation<T>(e.form, e.tables, [&]<class Activated>(Activated const& activated) {
      for_each_row(exec, label, e.rows, GatedBackward<T, Activated>{activated, Operands<T>(p), e});
    });
  }

  template <class T>
  static void run_serially(void* const* p, Extents const& e) {
    for (std::int64_t row = 0; row < e.rows; ++row) {
      auto const o = Operands<T>(p).row(row, e);
      for (std::int64_t j = 0; j < e.columns; ++j) {
        double const x = to_float(o.gate[j]), dy = to_float(o.dy[j]);
        double const dgate = reference_slope(e.form, x) * to_float(o.up[j]) * dy;
        o.dgate[j] = store<T>(static_cast<float>(dgate));
        o.dup[j] = store<T>(static_cast<float>(reference_value(e.form, x) * dy));
      }
    }
  }
};

}  // namespace

Kernel kernel_gated_backward() {
  return typed_kernel<GatedBackwardKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
