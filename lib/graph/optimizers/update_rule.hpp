// An UpdateRule says all that a graph and a step's commit need to know of an optimizer.
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "graph/operands.hpp"

namespace spillway {

// Describes a state: a tensor that every trainable chunk keeps from step to step.
struct StateRow {
  std::string_view name;  // the name of the State, and of its group in checkpoints
  Role role;
  // Returns nothing if such a run does not keep the state.
  std::optional<DType> (*dtype)(Arithmetic const&, OptimConfig const&);
  // So many successive elements of the chunk share an element of the state (`block_elements`).
  std::int64_t block = 1;
  // Returns how many elements belong to each parameter of the chunk (State::parts). Null, or an
  // empty list, means as many as the parameter has, at the same offsets.
  std::vector<std::int64_t> (*elements)(Graph const&, Chunk const&) = nullptr;
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

extern UpdateRule const adamw_rule, adamw_8bit_rule, lion_rule, sgd_rule, adafactor_rule, muon_rule;

UpdateRule const& update_rule(Optimizer kind);
// Returns a number that divides the offsets of all parameters, and the elements of all chunks, in
// graphs of runs with this optimizer.
std::int64_t parameter_alignment(Optimizer kind);

// These return the types of states that several optimizers keep. A remainder is the lower half of
// an fp32 master, whose upper half is the bf16 parameter; fp32 parameters have none, because they
// are their own masters.
std::optional<DType> remainder_dtype(Arithmetic const& arithmetic, OptimConfig const&);
std::optional<DType> moment_dtype(Arithmetic const& arithmetic, OptimConfig const&);
std::optional<DType> fp32_dtype(Arithmetic const&, OptimConfig const&);
// Returns the op `adamw` for the chunk, which must have its states, at that share of the step's
// learning rate.
Op adamw_op(Graph const& graph, Chunk const& chunk, double lr_share);
// Writes AdamW's control words, whatever its states are stored in.
void write_adamw_control(OptimConfig const& optim, double update, ControlWords& control);
// Writes nothing, for optimizers without control words of their own.
void write_no_control(OptimConfig const& optim, double update, ControlWords& control);
// Returns a View of the chunk's whole state with this name, or View{} if the chunk has none.
View state_view(Graph const& graph, Chunk const& chunk, std::string_view name);
// Returns the operands that updates of all optimizers have. The kind's moments are still absent.
template <OpKind kind>
Operands<kind> update_operands(Graph const& graph, Chunk const& chunk) {
  Operands<kind> operands;
  operands.gradient = whole(graph.tensors[chunk.gradient]);
  operands.control = whole(graph.tensors[graph.known.control]);
  operands.parameter = whole(graph.tensors[chunk.parameter]);
  operands.remainder = state_view(graph, chunk, "remainder");
  return operands;
}

}  // namespace spillway
