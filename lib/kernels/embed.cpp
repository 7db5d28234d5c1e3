// embed: x[m] = wte[tokens[m]] + wpe[m mod sequence].
#include "kernels/dispatch.hpp"
#include "kernels/kernel.hpp"
#include "kernels/rows.hpp"

namespace spillway {
namespace {

Label const label = "spillway::embed";

struct Extents {
  std::int64_t rows, columns, sequence;
};

template <class T>
struct Embed {
  std::int32_t const* tokens;
  T const* wte;
  T const* wpe;
  T* x;
  Extents extents;

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t row) const {
    auto const columns = extents.columns;
    auto const* const word = wte + tokens[row] * columns;
    auto const* const place = wpe + row % extents.sequence * columns;
    auto* const out = x + row * columns;
    team.for_columns(columns, [=](std::int64_t j) {
      out[j] = store<T>(to_float(word[j]) + to_float(place[j]));
    });
  }
};

template <class T>
Embed<T> operands_of(void* const* p, Extents extents) {
  return {static_cast<std::int32_t const*>(p[0]), static_cast<T const*>(p[1]),
          static_cast<T const*>(p[2]), static_cast<T*>(p[3]), extents};
}

template <class T>
Launch bind_typed(Extents e) {
  return [e](Exec const& exec, void* const* p) {
    for_each_row(exec, label, e.rows, operands_of<T>(p, e));
  };
}

template <class T>
Launch serial_typed(Extents e) {
  return [e](Exec const&, void* const* p) {
    auto const o = operands_of<T>(p, e);
    for (std::int64_t m = 0; m < e.rows; ++m)
      for (std::int64_t j = 0; j < e.columns; ++j)
        o.x[m * e.columns + j] = store<T>(to_float(o.wte[o.tokens[m] * e.columns + j]) +
                                          to_float(o.wpe[m % e.sequence * e.columns + j]));
  };
}

Extents extents_of(Op const& op) {
  assert(all_contiguous(op));
  auto const& x = op.outputs[0];
  return {x.shape[0], x.shape[1], attributes_of<EmbedAttributes>(op).sequence};
}

Launch bind(KernelContext const& context, Op const& op) {
  return dispatch([&]<class T>(T) { return bind_typed<T>(extents_of(op)); },
                  dtype(context, op.outputs[0]));
}

Launch serial(KernelContext const& context, Op const& op) {
  return dispatch([&]<class T>(T) { return serial_typed<T>(extents_of(op)); },
                  dtype(context, op.outputs[0]));
}

}  // namespace

Kernel kernel_embed() {
  return {bind, serial};
}

}  // namespace spillway
