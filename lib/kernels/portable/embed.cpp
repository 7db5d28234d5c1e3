// embed: x[m] = wte[tokens[m]] [+ wpe[positions[m], or m mod sequence]] [+ wtt[types[m], or 0]].
#include "kernels/formulas/embed.hpp"

#include "kernels/portable/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::embed";

struct Extents {
  std::int64_t rows, columns, sequence;
};

template <class T>
struct Embed {
  std::int32_t const* tokens;
  T const* wte;
  T const* wpe;  // null: none
  T const* wtt;  // null: none
  TableIndex position, type;
  T* x;
  Extents extents;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t row) const {
    auto const columns = extents.columns;
    auto* const out = x + row * columns;
    auto const* const word = wte + tokens[row] * columns;
    auto const* const place = wpe ? wpe + position(row) * columns : nullptr;
    auto const* const kind = wtt ? wtt + type(row) * columns : nullptr;
    if (place && kind) {
      add(team, out, word, place, kind);
    } else if (place || kind) {
      add(team, out, word, place ? place : kind);
    } else {
      add(team, out, word);
    }
  }

 private:
  template <class... Rows>
  KOKKOS_FUNCTION void add(RowTeam const& team, T* out, Rows const*... rows) const {
    team.for_columns(extents.columns,
                     [=](std::int64_t j) { out[j] = store<T>((... + to_float(rows[j]))); });
  }
};

template <class T>
Embed<T> operands_of(void* const* p, Extents extents) {
  return {static_cast<std::int32_t const*>(p[0]),
          static_cast<T const*>(p[1]),
          static_cast<T const*>(p[2]),
          static_cast<T const*>(p[5]),
          {static_cast<std::int32_t const*>(p[3]), extents.sequence},
          {static_cast<std::int32_t const*>(p[4]), 1},
          static_cast<T*>(p[6]),
          extents};
}

struct EmbedKernel {
  static Extents prepare(KernelContext const&, Op const& op) {
    assert(all_contiguous(op));
    auto const& x = op.outputs[0];
    return {x.shape[0], x.shape[1], attributes_of<EmbedAttributes>(op).sequence};
  }
  static auto typed(Op const& op) { return std::tie(op.outputs[0]); }

  template <class T>
  static void run(Exec const& exec, void* const* p, Extents const& e) {
    for_each_row(exec, label, e.rows, operands_of<T>(p, e));
  }

  template <class T>
  static void run_serially(void* const* p, Extents const& e) {
    auto const o = operands_of<T>(p, e);
    for (std::int64_t m = 0; m < e.rows; ++m)
      for (std::int64_t j = 0; j < e.columns; ++j) {
        float sum = to_float(o.wte[o.tokens[m] * e.columns + j]);
        if (o.wpe) sum += to_float(o.wpe[o.position(m) * e.columns + j]);
        if (o.wtt) sum += to_float(o.wtt[o.type(m) * e.columns + j]);
        o.x[m * e.columns + j] = store<T>(sum);
      }
  }
};

}  // namespace

Kernel kernel_embed() {
  return typed_kernel<EmbedKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
