// An UpdateRule says all that an optimizer is to a graph and to a step's commit.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "graph/graph.hpp"

namespace spillway {

// Describes a state: a tensor that every trainable chunk keeps from step to step, with one element
// for each element of the chunk.
struct StateRow {
  std::string_view name;  // the State's, and that of its group in checkpoints
  Role role;
  std::optional<DType> (*dtype)(Arithmetic const&);  // nothing: runs of this kind keep none
};

struct UpdateRule {
  std::span<StateRow const> states;
  // Returns the op that updates a whole chunk: its kind, operands and attributes. The first input
  // is the gradient. Outputs are the parameters and all states, and are in place.
  Op (*op)(Graph const& graph, Chunk const& chunk);
  // Writes the control words that only this optimizer has, for the update with this number, which
  // is 1 for the first one.
  void (*write_control)(OptimizerSettings const& settings, double update, ControlWords& control);
};

extern UpdateRule const adamw_rule;

UpdateRule const& update_rule(Optimizer kind);

// For the rows of states that rules have in common. A remainder is the lower half of an fp32
// master, whose upper half is the parameter; fp32 parameters are their own masters.
std::optional<DType> remainder_dtype(Arithmetic const& arithmetic);
std::optional<DType> moment_dtype(Arithmetic const& arithmetic);
// Returns the whole state of this name, or View{} if the chunk has none.
View state_view(Graph const& graph, Chunk const& chunk, std::string_view name);

}  // namespace spillway
