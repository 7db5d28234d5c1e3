// The op `gated` computes y = act(gate) up for each element (Shazeer, arXiv:2002.05202: SwiGLU,
// GEGLU, ReGLU). The inputs gate and up may be columns of the same matrix.
#include "kernels/formulas/activation_reference.hpp"
#include "kernels/portable/activation_tables.hpp"
#include "kernels/portable/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::gated";

struct Prepared {
  Activation form;
  LookedUp tables;
  std::int64_t rows, columns;
  std::int64_t gate_stride, up_stride, y_stride;  // in elements, from row to row
};

template <class T, class Activated>
struct Gated {
  Activated activated;
  Pointers<OpKind::gated, T> o;
  Prepared p;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t row) const {
    auto const *const gate = o.gate + row * p.gate_stride, *const up = o.up + row * p.up_stride;
    auto* const y = o.y + row * p.y_stride;
    team.for_columns(p.columns, [=, act = activated](std::int64_t j) {
      y[j] = store<T>(act.value(gate[j]) * to_float(up[j]));
    });
  }
};

struct GatedKernel {
  static constexpr auto kind = OpKind::gated;

  static Prepared prepare(KernelContext const& context, Op const& op) {
    auto const o = operands<kind>(op);
    return {attributes_of<ActivationAttributes>(op).form,
            activation_tables(context, op),
            o.y.shape[0],
            o.y.shape[1],
            row_stride(o.gate),
            row_stride(o.up),
            row_stride(o.y)};
  }
  static auto typed(auto const& o) { return std::tie(o.y); }

  template <class T>
  static void run(Exec const& exec, Pointers<OpKind::gated, T> const& o, Prepared const& p) {
    with_activation<T>(p.form, p.tables, [&]<class Activated>(Activated const& activated) {
      for_each_row(exec, label, p.rows, Gated<T, Activated>{activated, o, p});
    });
  }

  template <class T>
  static void run_serially(Pointers<OpKind::gated, T> const& o, Prepared const& p) {
    for (std::int64_t row = 0; row < p.rows; ++row)
      for (std::int64_t j = 0; j < p.columns; ++j) {
        double const gate = to_float(o.gate[row * p.gate_stride + j]);
        double const up = to_float(o.up[row * p.up_stride + j]);
        o.y[row * p.y_stride + j] =
            store<T>(static_cast<float>(reference_value(p.form, gate) * up));
      }
  }
};

}  // namespace

Kernel kernel_gated() {
  return typed_kernel<GatedKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
