// The op `rope` computes, with angle = position x frequency of pair j (Su et al.,
// arXiv:2104.09864), for each head of d columns:
//   y[j] = x[j] cos - x[j + d/2] sin,   y[j + d/2] = x[j + d/2] cos + x[j] sin.
// Columns that belong to no head are copied. The op's backward pass turns by the negative angles.
#include "kernels/formulas/rope.hpp"

#include <cmath>

#include "base/check.hpp"
#include "kernels/formulas/fast_math.hpp"
#include "kernels/portable/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::rope";

struct Prepared {
  std::int64_t rows, columns, heads, pairs;
  std::int64_t sequence, x_stride, y_stride;
  float direction;  // 1, or -1 to turn by the negative angles
  RopeFrequencies frequencies;
};

template <class T>
struct Rope {
  Pointers<OpKind::rope, T> o;
  Prepared p;

  KOKKOS_FUNCTION float position(std::int64_t row) const {
    return p.direction * static_cast<float>(o.positions ? o.positions[row] : row % p.sequence);
  }

  KOKKOS_FUNCTION void operator()(RowTeam const& team, std::int64_t row) const {
    auto const* const in = o.x + row * p.x_stride;
    auto* const out = o.y + row * p.y_stride;
    float const turns = position(row);
    team.for_column_blocks(p.pairs, [=, this](std::int64_t first, int width) {
      turn_pairs(in + first, out + first, turns, p.frequencies.of_pair + first, width);
    });
    auto const turned = 2 * p.pairs * p.heads;
    team.for_columns(p.columns - turned, [=](std::int64_t j) { out[turned + j] = in[turned + j]; });
  }

 private:
  // Turns `width` pairs of columns in every head of a row. All heads use the same cosines and
  // sines.
  KOKKOS_FUNCTION void turn_pairs(T const* in, T* out, float turns, float const* frequency,
                                  int width) const {
    float cosine[RowTeam::kBlock], sine[RowTeam::kBlock];
#pragma omp simd
    for (int l = 0; l < width; ++l) fast_cos_sin(turns * frequency[l], cosine + l, sine + l);
    for (std::int64_t head = 0; head < p.heads; ++head) {
      auto const *const low = in + 2 * head * p.pairs, *const high = low + p.pairs;
      auto *const out_low = out + 2 * head * p.pairs, *const out_high = out_low + p.pairs;
#pragma omp simd
      for (int l = 0; l < width; ++l) {
        float const a = to_float(low[l]), b = to_float(high[l]);
        out_low[l] = store<T>(std::fma(a, cosine[l], -(b * sine[l])));
        out_high[l] = store<T>(std::fma(b, cosine[l], a * sine[l]));
      }
    }
  }
};

struct RopeKernel {
  static constexpr auto kind = OpKind::rope;

  static Prepared prepare(KernelContext const&, Op const& op) {
    auto const& a = attributes_of<RopeAttributes>(op);
    auto const o = operands<kind>(op);
    check(a.heads * a.head_size <= o.x.shape[1], name(op.kind), "it has more heads than columns");
    return {.rows = o.x.shape[0],
            .columns = o.x.shape[1],
            .heads = a.heads,
            .pairs = a.head_size / 2,
            .sequence = a.sequence,
            .x_stride = row_stride(o.x),
            .y_stride = row_stride(o.y),
            .direction = a.inverse ? -1.0f : 1.0f,
            .frequencies = rope_frequencies(op)};
  }
  static auto typed(auto const& o) { return std::tie(o.y); }

  template <class T>
  static void run(Exec const& exec, Pointers<OpKind::rope, T> const& o, Prepared const& p) {
    for_each_row(exec, label, p.rows, Rope<T>{o, p});
  }

  // The serial reference computes element by element, in fp64 from fp32 angles.
  template <class T>
  static void run_serially(Pointers<OpKind::rope, T> const& o, Prepared const& p) {
    Rope<T> const rope{o, p};
    for (std::int64_t row = 0; row < p.rows; ++row)
      for (std::int64_t j = 0; j < p.columns; ++j) {
        auto const* const x = o.x + row * p.x_stride;
        auto const pair = j % p.pairs;
        bool const is_low = j % (2 * p.pairs) < p.pairs;
        float const angle = rope.position(row) * p.frequencies.of_pair[pair];
        double const other = is_low ? -std::sin(double{angle}) : std::sin(double{angle});
        auto const at = is_low ? j + p.pairs : j - p.pairs;
        o.y[row * p.y_stride + j] =
            j < 2 * p.pairs * p.heads
                ? store<T>(static_cast<float>(to_float(x[j]) * std::cos(double{angle}) +
                                              to_float(x[at]) * other))
                : x[j];
      }
  }
};

}  // namespace

Kernel kernel_rope() {
  return typed_kernel<RopeKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
