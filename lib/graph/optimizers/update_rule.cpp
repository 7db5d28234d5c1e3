#include "graph/optimizers/update_rule.hpp"

#include <iterator>

#include "base/spelling.hpp"

namespace spillway {

UpdateRule const& update_rule(Optimizer kind) {
  static constexpr UpdateRule const* rules[] = {&adamw_rule};  // in the order of the enumerators
  static_assert(std::size(rules) == kWords<Optimizer>.size());
  return *rules[static_cast<std::size_t>(kind)];
}

std::optional<DType> remainder_dtype(Arithmetic const& arithmetic) {
  if (arithmetic.precision != Precision::bf16) return std::nullopt;
  return DType::i16;
}

std::optional<DType> moment_dtype(Arithmetic const& arithmetic) {
  return stored_dtype(arithmetic.moments);
}

View state_view(Graph const& graph, Chunk const& chunk, std::string_view name) {
  auto const state = chunk.state(name);
  return state < 0 ? View{} : whole(graph.tensors[state]);
}

}  // namespace spillway
