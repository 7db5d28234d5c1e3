// An UpdateRule says all that a graph and a step's commit need to know of an optimizer.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "graph/graph.hpp"

namespace spillway {

// Describes a state: a tensor that every trainable chunk keeps from step to step, with one element
// for each element of the chunk.
struct StateRow {
  std::string_view name;  // the name of the State, and of its group in checkpoints
  Role role;
  // Returns nothing if a run with this Arithmetic does not keep the state.
  std::optional<DType> (*dtype)(Arithmetic const&);
};

struct UpdateRule {
  std::span<StateRow const> states;
  // Returns the op that updates a whole chunk: its kind, operands and attributes. The first input
  // is the gradient. Outputs are the parameters and all states, and are in place.
  Op (*op)(Graph const& graph, Chunk const& chunk);
  // Writes the control words that only this optimizer has, for the update with the number `update`,
  // which is 1 for a run's first update.
  void (*write_control)(OptimConfig const& optim, double update, ControlWords& control);
};

extern UpdateRule const adamw_rule;

UpdateRule const& update_rule(Optimizer kind);

// These return the types of states that several optimizers keep. A remainder is the lower half of
// an fp32 master, whose upper half is the bf16 parameter; fp32 parameters have none, because they
// are their own masters.
std::optional<DType> remainder_dtype(Arithmetic const& arithmetic);
std::optional<DType> moment_dtype(Arithmetic const& arithmetic);
// Returns a View of the chunk's whole state with this name, or View{} if the chunk has none.
View state_view(Graph const& graph, Chunk const& chunk, std::string_view name);

}  // namespace spillway
