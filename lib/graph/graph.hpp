// The training step as data: tensors, ops, blocks, chunks. Built by lib/model, completed by
// `append_backward` and `append_update`, read by lib/plan.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/id_vector.hpp"
#include "graph/arithmetic.hpp"
#include "graph/batch.hpp"
#include "graph/op.hpp"
#include "graph/tensor.hpp"

namespace spillway {

// How a parameter starts: normal(0, std) drawn by counter from (seed, parameter index, element).
struct Init {
  enum class Kind : std::uint8_t { zeros, ones, normal } kind = Kind::zeros;
  double std = 0;

  bool operator==(Init const&) const = default;
};

struct Parameter {
  std::string name;  // Hugging Face's name
  View view;         // into its chunk's parameter tensor; contiguous
  Init init;
  bool decay = false;
  bool operator==(Parameter const&) const = default;
};

// What an update keeps of a parameter from step to step, beside it.
struct State {
  std::string name;  // "remainder" (the lower half of a bf16 master), "m", "v"
  TensorId tensor = -1;
  bool operator==(State const&) const = default;
};

// The parameters of one block in execution order, one contiguous tensor; gradient and states have
// the same element offsets. Parameters, or groups of them that ops read as one View, start on
// multiples of `kParameterAlignment`; gaps are never read by an update, a norm or a checkpoint.
// What is not trainable has neither gradient nor states, and no update.
struct Chunk {
  int id = -1;
  std::string name;
  int block = -1;  // the first block that uses it
  bool trainable = true;
  std::vector<Parameter> parameters;
  std::int64_t elements = 0;
  TensorId parameter = -1, gradient = -1;
  std::vector<State> states;
  int norm = -1;  // its row of `WellKnown::norms`

  TensorId state(std::string_view name) const;  // -1: it has none of that name
  bool operator==(Chunk const&) const = default;
};
inline constexpr std::int64_t kParameterAlignment = 64;  // elements
inline constexpr std::int64_t kNormTile = 4096;          // elements of a chunk per fp64 partial sum

// The gradient of a parameter that an earlier op of the backward pass has written as well. In one
// micro-batch it is added to theirs as soon as it is made: by the op `add`, or, where that is -1,
// by its own op, whose output is then the chunk's gradient, in place. Over several micro-batches
// each use is summed first, then the uses in the order of Graph::parts, so that no order of blocks
// and micro-batches shows in the bits.
struct GradientPart {
  TensorId tensor = -1;  // of the parameters' elements; role gradient
  int chunk = -1;
  ElementRange range;        // of the chunk's elements
  int op = -1, output = -1;  // which makes it: its output is the part or, without `add`, the sum
  int add = -1;              // accumulate
};

// A contiguous range of forward ops [first_op, last_op): one layer.
struct Block {
  std::string name;
  int first_op = 0, last_op = 0;
  bool layer = false;  // a transformer layer: the lists of `plan.*` name these, in order
};

// Tensors that the program's doing side fills or reads by role, not by name. -1: absent.
struct WellKnown {
  std::vector<BatchTensor> batch;  // what a micro-batch brings
  TensorId logits = -1;            // f32 [1, V] (generate)
  // f64 [2]: sum of weighted losses, sum of weights, over a step's micro-batches
  TensorId loss = -1;
  // f64 [trainable chunks, ranks]: sums of squares of reduced gradients, a rank's slice each.
  TensorId norms = -1;
  TensorId control = -1;  // f64 [kControlWords], written by `commit`, read by updates

  TensorId of(BatchField field, int stack = 0) const;
  bool operator==(WellKnown const&) const = default;
};

// Words of `control`.
enum Control : int {
  control_go,              // 1: the step is committed; 0: updates do nothing
  control_gradient_scale,  // clip factor / global sum of weights
  control_learning_rate,
  control_bias1,  // 1 - beta1^t
  control_bias2,  // 1 - beta2^t
  kControlWords = 8,
};

// What a forward graph is built for: a loss to differentiate, a loss alone (no dropout), or the
// logits of one row.
enum class Purpose : std::uint8_t { train, eval, generate };

struct Graph {
  Purpose purpose = Purpose::train;
  IdVector<Tensor> tensors;
  IdVector<Op> ops;  // forward ops in order, then backward ops in order, then the update's
  IdVector<Block> blocks;
  IdVector<Chunk> chunks;
  IdVector<GradientPart> parts;  // in the order of the ops that make them
  WellKnown known;
  Arithmetic arithmetic;
  std::uint64_t seed = 0;

  Op const& op(int id) const { return ops[id]; }
  Tensor const& tensor(View const& view) const { return tensors[view.tensor]; }
  std::int64_t parameter_count() const;
};

// The backward ops of one block, in order.
struct BackwardGroup {
  int block = -1;
  std::vector<int> ops;
};
// The backward pass of a graph, block by block.
std::vector<BackwardGroup> backward_groups(Graph const& graph);

}  // namespace spillway
