#include "kernels/host/attention_division.hpp"

#include "kernels/host/attention_dropout.hpp"
#include "kernels/host/attention_tiles.hpp"

namespace spillway::host {

Division division(AttentionShape const& s) {
  auto const units = s.batch * s.kv_heads;
  bool const busy = div_ceil(units, s.workers) * s.workers * 2 <= units * 3;
  auto const sum_bytes = 2 * round_up(s.keys, s.tile) * s.width * size_bytes(DType::f32);
  return busy && sum_bytes <= kMostSumBytes ? Division::heads : Division::tiles;
}

GradientScratch::GradientScratch(AttentionShape const& s, TileKernels const& kernels) {
  auto const by_row = panel_count(s.tile) * kernels.panel_bytes(s.head_size);
  auto const by_column = panel_count(s.width) * kernels.panel_bytes(s.tile);
  bool const whole = division(s) == Division::heads;
  sum_floats = (whole ? round_up(s.keys, s.tile) : s.tile) * s.width;
  ScratchPlan plan;
  for (auto* const panels : {&q_lines, &d_o_lines, &k_lines, &v_lines})
    *panels = plan.bytes(by_row);
  for (auto* const panels : {&q_depth, &d_o_depth, &k_depth}) *panels = plan.bytes(by_column);
  factor = plan.bytes(kernels.panel_bytes(s.tile));
  weights = plan.floats(kPanel * s.strip_stride());
  slopes = plan.floats(s.tile * s.strip_stride());
  factors = plan.floats(s.dropout > 0 ? kDropoutDraws * s.strip_stride() : 0);
  lse = plan.floats(s.tile);
  delta = plan.floats(s.tile);
  dq = plan.floats(s.tile * s.width);
  dk = plan.floats(sum_floats);
  dv = plan.floats(sum_floats);
  total_bytes = plan.total_bytes();
}

}  // namespace spillway::host
