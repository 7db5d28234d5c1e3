// The op `gated_backward` computes dgate = act'(gate) up dy and dup = act(gate) dy for each
// element.
#include "kernels/formulas/activation_reference.hpp"
#include "kernels/portable/activation_tables.hpp"
#include "kernels/portable/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::gated_backward";

struct Prepared {
  Activation form;
  LookedUp tables;
  std::int64_t rows, columns;
  // Strides are in elements, from row to row.
  std::int64_t gate_stride, up_stride, dy_stride, dgate_stride, dup_stride;
};

template <class T>
using OpPointers = Pointers<OpKind::gated_backward, T>;

template <class T>
KOKKOS_FUNCTION OpPointers<T> row_of(OpPointers<T> o, std::int64_t row, Prepared const& p) {
  o.gate += row * p.gate_stride;
  o.up += row * p.up_stride;
  o.dy += row * p.dy_stride;
  o.dgate += row * p.dgate_stride;
  o.dup += row * p.dup_stride;
  return o;
}

template <class T, class Activated>
struct GatedBackward {
  Activated activated;
  OpPointers<T> all;
  Prepared p;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t row) const {
    auto const o = row_of<T>(all, row, p);
    team.for_columns(p.columns, [=, act = activated](std::int64_t j) {
      float const incoming = to_float(o.dy[j]);
      o.dgate[j] = store<T>(act.slope(o.gate[j]) * to_float(o.up[j]) * incoming);
      o.dup[j] = store<T>(act.value(o.gate[j]) * incoming);
    });
  }
};

struct GatedBackwardKernel {
  static constexpr auto kind = OpKind::gated_backward;

  static Prepared prepare(KernelContext const& context, Op const& op) {
    auto const o = operands<kind>(op);
    return {attributes_of<ActivationAttributes>(op).form,
            activation_tables(context, op),
            o.dgate.shape[0],
            o.dgate.shape[1],
            row_stride(o.gate),
            row_stride(o.up),
            row_stride(o.dy),
            row_stride(o.dgate),
            row_stride(o.dup)};
  }
  static auto typed(auto const& o) { return std::tie(o.dgate); }

  template <class T>
  static void run(Exec const& exec, OpPointers<T> const& o, Prepared const& p) {
    with_activation<T>(p.form, p.tables, [&]<class Activated>(Activated const& activated) {
      for_each_row(exec, label, p.rows, GatedBackward<T, Activated>{activated, o, p});
    });
  }

  template <class T>
  static void run_serially(OpPointers<T> const& all, Prepared const& p) {
    for (std::int64_t row = 0; row < p.rows; ++row) {
      auto const o = row_of<T>(all, row, p);
      for (std::int64_t j = 0; j < p.columns; ++j) {
        double const x = to_float(o.gate[j]), dy = to_float(o.dy[j]);
        double const dgate = reference_slope(p.form, x) * to_float(o.up[j]) * dy;
        o.dgate[j] = store<T>(static_cast<float>(dgate));
        o.dup[j] = store<T>(static_cast<float>(reference_value(p.form, x) * dy));
      }
    }
  }
};

}  // namespace

Kernel kernel_gated_backward() {
  return typed_kernel<GatedBackwardKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
