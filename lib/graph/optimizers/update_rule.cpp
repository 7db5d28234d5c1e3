#include "graph/optimizers/update_rule.hpp"

#include <algorithm>
#include <iterator>

#include "base/spelling.hpp"

namespace spillway {

UpdateRule const& update_rule(Optimizer kind) {
  static constexpr UpdateRule const* rules[] = {
      // in the order of the enumerators
      &adamw_rule, &adamw_8bit_rule, &lion_rule, &sgd_rule, &adafactor_rule, &muon_rule};
  static_assert(std::size(rules) == kWords<Optimizer>.size());
  return *rules[static_cast<std::size_t>(kind)];
}

// All blocks have the same size, or parameters would begin at a common multiple.
std::int64_t parameter_alignment(Optimizer kind) {
  auto alignment = kParameterAlignment;
  for (StateRow const& row : update_rule(kind).states) alignment = std::max(alignment, row.block);
  return alignment;
}

std::optional<DType> remainder_dtype(Arithmetic const& arithmetic, OptimConfig const&) {
  if (arithmetic.precision != Precision::bf16) return std::nullopt;
  return DType::i16;
}

std::optional<DType> moment_dtype(Arithmetic const& arithmetic, OptimConfig const&) {
  return stored_dtype(arithmetic.moments);
}

std::optional<DType> fp32_dtype(Arithmetic const&, OptimConfig const&) {
  return DType::f32;
}

void write_no_control(OptimConfig const&, double, ControlWords&) {}

View state_view(Graph const& graph, Chunk const& chunk, std::string_view name) {
  auto const state = chunk.state(name);
  return state < 0 ? View{} : whole(graph.tensors[state]);
}

}  // namespace spillway
