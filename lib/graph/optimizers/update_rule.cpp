#include "graph/optimizers/update_rule.hpp"

#include <algorithm>
#include <iterator>

#include "base/check.hpp"

namespace spillway {

UpdateRule const& update_rule(OptimizerKind kind) {
  static constexpr UpdateRule const* rules[] = {
#define SPILLWAY_OPTIMIZER(name) &name##_rule,
#include "graph/optimizers/optimizers.def"
#undef SPILLWAY_OPTIMIZER
  };
  return *rules[static_cast<std::size_t>(kind)];
}

OptimizerKind optimizer_kind(std::string_view word) {
  static constexpr std::string_view words[] = {
#define SPILLWAY_OPTIMIZER(name) #name,
#include "graph/optimizers/optimizers.def"
#undef SPILLWAY_OPTIMIZER
  };
  auto const at = std::ranges::find(words, word) - std::begin(words);
  check(at < std::ssize(words), "optim.name", "has a word that no optimizer has");
  return static_cast<OptimizerKind>(at);
}

std::optional<DType> remainder_dtype(Arithmetic const& arithmetic) {
  if (arithmetic.precision != "bf16") return std::nullopt;
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
