// The op `embed` computes x[m] = wte[tokens[m]] [+ wpe[positions[m], or m mod sequence]] [+
// wtt[types[m], or 0]]. Terms in brackets are optional, and so are positions and types.
#include "kernels/formulas/embed.hpp"

#include "kernels/portable/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::embed";

struct Prepared {
  std::int64_t rows, columns, sequence;
};

template <class T>
struct Embed {
  Pointers<OpKind::embed, T> o;
  Prepared prepared;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t row) const {
    auto const columns = prepared.columns;
    auto* const out = o.x + row * columns;
    auto const* const word = o.wte + o.tokens[row] * columns;
    auto const* const place = o.wpe ? o.wpe + position(row) * columns : nullptr;
    auto const* const kind = o.wtt ? o.wtt + type(row) * columns : nullptr;
    if (place && kind) {
      add(team, out, word, place, kind);
    } else if (place || kind) {
      add(team, out, word, place ? place : kind);
    } else {
      add(team, out, word);
    }
  }

  KOKKOS_FUNCTION std::int64_t position(std::int64_t row) const {
    return TableIndex{o.positions, prepared.sequence}(row);
  }
  KOKKOS_FUNCTION std::int64_t type(std::int64_t row) const { return TableIndex{o.types, 1}(row); }

 private:
  template <class... Rows>
  KOKKOS_FUNCTION void add(RowTeam const& team, T* out, Rows const*... rows) const {
    team.for_columns(prepared.columns,
                     [=](std::int64_t j) { out[j] = store<T>((... + to_float(rows[j]))); });
  }
};

struct EmbedKernel {
  static constexpr auto kind = OpKind::embed;

  static Prepared prepare(KernelContext const&, Op const& op) {
    require_contiguous(op);
    auto const& x = operands<kind>(op).x;
    return {x.shape[0], x.shape[1], attributes_of<EmbedAttributes>(op).sequence};
  }
  static auto typed(auto const& o) { return std::tie(o.x); }

  template <class T>
  static void run(Exec const& exec, Pointers<OpKind::embed, T> const& o, Prepared const& p) {
    for_each_row(exec, label, p.rows, Embed<T>{o, p});
  }

  template <class T>
  static void run_serially(Pointers<OpKind::embed, T> const& o, Prepared const& p) {
    Embed<T> const embed{o, p};
    for (std::int64_t m = 0; m < p.rows; ++m)
      for (std::int64_t j = 0; j < p.columns; ++j) {
        float sum = to_float(o.wte[o.tokens[m] * p.columns + j]);
        if (o.wpe) sum += to_float(o.wpe[embed.position(m) * p.columns + j]);
        if (o.wtt) sum += to_float(o.wtt[embed.type(m) * p.columns + j]);
        o.x[m * p.columns + j] = store<T>(sum);
      }
  }
};

}  // namespace

Kernel kernel_embed() {
  return typed_kernel<EmbedKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
