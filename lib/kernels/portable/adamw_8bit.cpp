// The op `adamw_8bit` updates one chunk in place. A row is a block of elements that share scales:
// their moments are decoded and updated, the largest magnitudes become the new scales, and the
// moments are encoded by these. The update itself goes by the moments before they are encoded.
#include <type_traits>
#include <vector>

#include "kernels/formulas/adamw.hpp"
#include "kernels/formulas/dynamic_code.hpp"
#include "kernels/formulas/parameter_ranges.hpp"
#include "kernels/host_pieces.hpp"
#include "kernels/portable/masters.hpp"
#include "kernels/portable/rows.hpp"
#include "kernels/typed_kernel.hpp"

namespace spillway::SPILLWAY_SPACE {
namespace {

Label const label = "spillway::adamw_8bit";

template <class T, class G>
using Operands8bit = Pointers<OpKind::adamw_8bit, T, G>;

// Says how a block stood before its update.
struct BlockBefore {
  std::int64_t first, count;  // its elements, within those of the op
  float m_scale, v_scale;
};

template <class G, class Masters>
struct AdamW8bit {
  G const* gradient;
  double const* control;
  Masters masters;
  std::uint8_t* m;
  float* m_scale;
  std::uint8_t* v;
  float* v_scale;
  AdamWConstants constants;
  ParameterRange range;  // begins with a block

  // Updates the block with this number among those of `range`.
  template <class Row>
  KOKKOS_FUNCTION void operator()(Row const& row, std::int64_t number) const {
    if constexpr (std::is_same_v<Row, HostRow>) return on_host(number);
    if (control[control_go] != 1) return;
    auto const step = adamw_step(constants, control, range.decay);
    auto const o = *this;  // a local copy, whose pointers the loops' stores cannot change
    auto const before = block(number);
    auto const columns = before.count;
    float const m_top = row.max_columns(
        columns, 0.0f, [=](std::int64_t j) { return std::abs(o.updated(before, j, step).m); });
    float const v_top = row.max_columns(
        columns, 0.0f, [=](std::int64_t j) { return o.updated(before, j, step).v; });
    row.once([=] {
      o.m_scale[before.first / kQuantizedBlock] = m_top;
      o.v_scale[before.first / kQuantizedBlock] = v_top;
    });
    row.for_columns(columns, [=](std::int64_t j) { o.write(before, j, step, m_top, v_top); });
  }

  // Gives the same bits, with each moment decoded once.
  void on_host(std::int64_t number) const {
    if (control[control_go] != 1) return;
    auto const o = *this;  // a local copy, as above
    o.update_on_host(block(number), adamw_step(constants, control, range.decay));
  }
  void update_on_host(BlockBefore const& b, AdamWStep const& step) const {
    float m_now[kQuantizedBlock], v_now[kQuantizedBlock];
    float m_top = 0, v_top = 0;
#pragma omp simd
    for (std::int64_t j = 0; j < b.count; ++j) update(b, j, step, m_now + j, v_now + j);
#pragma omp simd reduction(max : m_top, v_top)
    for (std::int64_t j = 0; j < b.count; ++j) {
      m_top = std::abs(m_now[j]) > m_top ? std::abs(m_now[j]) : m_top;
      v_top = v_now[j] > v_top ? v_now[j] : v_top;
    }
    m_scale[b.first / kQuantizedBlock] = m_top;
    v_scale[b.first / kQuantizedBlock] = v_top;
    auto *const m_codes = m + b.first, *const v_codes = v + b.first;
    float const m_unit = m_top > 0 ? m_top : 1, v_unit = v_top > 0 ? v_top : 1;
#pragma omp simd
    for (std::int64_t j = 0; j < b.count; ++j) m_codes[j] = SignedCode::encode(m_now[j] / m_unit);
#pragma omp simd
    for (std::int64_t j = 0; j < b.count; ++j) v_codes[j] = UnsignedCode::encode(v_now[j] / v_unit);
  }
  void update(BlockBefore const& b, std::int64_t j, AdamWStep const& step, float* m_now,
              float* v_now) const {
    auto const after = updated(b, j, step);
    masters.save(b.first + j, after.master);
    *m_now = after.m;
    *v_now = after.v;
  }

  KOKKOS_FUNCTION BlockBefore block(std::int64_t number) const {
    auto const first = range.offset + number * kQuantizedBlock;
    auto const left = range.offset + range.count - first;
    return {first, left < kQuantizedBlock ? left : kQuantizedBlock,
            m_scale[first / kQuantizedBlock], v_scale[first / kQuantizedBlock]};
  }

  KOKKOS_FUNCTION AdamWElement updated(BlockBefore const& b, std::int64_t j,
                                       AdamWStep const& step) const {
    auto const i = b.first + j;
    AdamWElement const before{masters.load(i), SignedCode::decode(m[i]) * b.m_scale,
                              UnsignedCode::decode(v[i]) * b.v_scale};
    return adamw(before, to_float(gradient[i]), step);
  }

  KOKKOS_FUNCTION void write(BlockBefore const& b, std::int64_t j, AdamWStep const& step,
                             float m_top, float v_top) const {
    auto const i = b.first + j;
    auto const after = updated(b, j, step);
    masters.save(i, after.master);
    m[i] = SignedCode::encode(m_top > 0 ? after.m / m_top : 0.0f);
    v[i] = UnsignedCode::encode(v_top > 0 ? after.v / v_top : 0.0f);
  }
};

struct Prepared {
  AdamWConstants constants;
  std::vector<ParameterRange> ranges;
};

// Joins parameters that follow each other without a gap, because ops read them as one. So each
// range begins with a block.
std::vector<ParameterRange> joined(std::vector<ParameterRange> const& ranges) {
  std::vector<ParameterRange> all;
  for (auto const& range : ranges) {
    bool const follows = !all.empty() && all.back().offset + all.back().count == range.offset;
    if (follows && all.back().decay == range.decay)
      all.back().count += range.count;
    else
      all.push_back(range);
  }
  return all;
}

template <class T, class G>
auto update_of(Operands8bit<T, G> const& o, Prepared const& prepared, ParameterRange const& range) {
  auto const masters = masters_of(o.parameter, o.remainder);
  return AdamW8bit<G, std::remove_const_t<decltype(masters)>>{
      o.gradient, o.control, masters, o.m, o.m_scale, o.v, o.v_scale, prepared.constants, range};
}

struct AdamW8bitKernel {
  static constexpr auto kind = OpKind::adamw_8bit;

  static Prepared prepare(KernelContext const& context, Op const& op) {
    auto const o = operands<kind>(op);
    require_remainder(context, op, o.parameter, o.remainder);
    auto const& a = attributes_of<AdamWAttributes>(op);
    Prepared prepared{{a.beta1, a.beta2, a.eps, a.weight_decay, a.lr_share},
                      joined(parameter_ranges(context, op, a.range))};
    for (auto const& range : prepared.ranges)
      check(range.offset % kQuantizedBlock == 0, name(kind), "a parameter begins within a block");
    return prepared;
  }
  static auto typed(auto const& o) { return std::tie(o.parameter, o.gradient); }

  template <class T, class G>
  static void run(Exec const& exec, Operands8bit<T, G> const& o, Prepared const& prepared) {
    for (auto const& range : prepared.ranges)
      for_each_row(exec, label, div_ceil(range.count, kQuantizedBlock),
                   update_of(o, prepared, range));
  }

  template <class T, class G>
  static void run_serially(Exec const& exec, Operands8bit<T, G> const& o,
                           Prepared const& prepared) {
    for (auto const& range : prepared.ranges) {
      auto const update = update_of(o, prepared, range);
      for_each_piece(exec, div_ceil(range.count, kQuantizedBlock), kPieceElements / kQuantizedBlock,
                     [&](std::int64_t first, std::int64_t last) {
                       for (auto block = first; block < last; ++block) update.on_host(block);
                     });
    }
  }
};

}  // namespace

Kernel kernel_adamw_8bit() {
  return typed_kernel<AdamW8bitKernel>();
}

}  // namespace spillway::SPILLWAY_SPACE
