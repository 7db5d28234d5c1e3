// Describes the training step as data: tensors, ops, blocks and chunks. lib/model builds it,
// `append_backward` and `append_update` complete it, and lib/plan reads it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_vector.hpp"
#include "config/config.hpp"
#include "graph/arithmetic.hpp"
#include "graph/batch.hpp"
#include "graph/op.hpp"
#include "graph/quantized.hpp"
#include "graph/tensor.hpp"

namespace spillway {

// Says how a parameter starts. `normal` draws each element from a normal distribution with mean 0
// and deviation `std`, `uniform` from a uniform one with the same, so up to sqrt(3) `std` on either
// side of 0, by random numbers that follow from (seed, parameter index, element).
struct Init {
  enum class Kind : std::uint8_t { zeros, ones, normal, uniform } kind = Kind::zeros;
  double std = 0;

  bool operator==(Init const&) const = default;
};

struct Parameter {
  std::string name;  // as Hugging Face calls it
  View view;         // a contiguous part of its chunk's parameter tensor: its elements or bytes
  Init init;
  bool decay = false;
  Quantized quantized = {};

  bool is_quantized() const { return quantized.form != Quantization::none; }
  Shape const& shape() const { return is_quantized() ? quantized.shape : view.shape; }
  bool operator==(Parameter const&) const = default;
};

// Describes a tensor that an update keeps beside a parameter from step to step.
struct State {
  std::string name;  // "remainder" (lower half of a bf16 master), or what an optimizer calls it
  TensorId tensor = -1;
  // If not empty, says for each parameter of the chunk which elements of the state are its own, of
  // which there may be any number. Such a state moves as a whole.
  std::vector<ElementRange> parts = {};
  bool operator==(State const&) const = default;
};

// Holds parameters of one block in execution order as one contiguous tensor. The gradient has the
// same element offsets, and so have states, or they have one element for each block of so many
// (`block_elements`), or other elements for each parameter (State::parts). A parameter, or a group
// that ops read as one View, starts at a multiple of `kParameterAlignment` and of all such blocks.
// Updates, norms and checkpoints never read the gaps between them. A chunk that is not trainable
// has no gradient, no states and no update. If its parameters are quantized, its tensor has their
// bytes, of which ops make transient matrices.
struct Chunk {
  int id = -1;
  std::string name;
  int block = -1;  // the first block that uses it
  bool trainable = true;
  std::vector<Parameter> parameters;
  std::int64_t elements = 0;
  TensorId parameter = -1, gradient = -1;
  std::vector<State> states;
  int norm = -1;  // its row in `WellKnown::norms`
  // If ranks share the chunk out (sharing.hpp), a schedule sets how many keep a copy together, and
  // adds these tensors, which hold the slice that a rank keeps, as the states do then.
  std::int64_t sharers = 1;
  TensorId parameter_slice = -1, gradient_slice = -1;

  bool is_shared_out() const { return sharers > 1; }
  // Returns the tensor of the state with that name, or -1 if the chunk has none.
  TensorId state(std::string_view name) const;
  // Returns State::parts of the state with this tensor, which are none for all other tensors.
  std::vector<ElementRange> const& parts_of(TensorId state) const;
  // Returns whether the chunk's update works on whole parameters, which then are not cut into
  // slices or shared out: so it is where a state has parts.
  bool is_updated_whole() const;
  bool operator==(Chunk const&) const = default;
};
inline constexpr std::int64_t kParameterAlignment = 64;  // in elements
// So many elements share a scale if an optimizer quantizes its states.
inline constexpr std::int64_t kQuantizedBlock = 256;
inline constexpr std::int64_t kNormTile = 4096;  // elements in each fp64 partial sum of a norm

// Describes what a later use of a parameter adds to a gradient that an earlier op of the backward
// pass has written. If a step has one micro-batch, the part is added as soon as it is made: by the
// op `add` or, if that is -1, in place by the op that makes it, whose output is then the chunk's
// gradient. If a step has several, each use is first summed over them, and then the sums are added
// in the order of Graph::parts. So the bits do not depend on the order of blocks and micro-batches.
struct GradientPart {
  TensorId tensor = -1;  // holds the elements of the parameters alone; its role is gradient
  int chunk = -1;
  ElementRange range;        // within the chunk's elements
  int op = -1, output = -1;  // the op that makes it, and the number of that op's output
  int add = -1;              // the op `accumulate` that adds it, or -1 if `op` does
};

// A block is a contiguous range of forward ops [first_op, last_op).
struct Block {
  std::string name;
  int first_op = 0, last_op = 0;
  bool layer = false;  // whether it is a layer, to which the key plan.activations gives a policy
};

// Lists tensors that a run must find without knowing their names. -1 means that there is none.
struct WellKnown {
  std::vector<BatchTensor> batch;  // the fields that a micro-batch brings
  TensorId logits = -1;            // f32 [1, vocabulary], when generating
  // f64 [2]: holds the sums of weighted losses and of weights over a step's micro-batches.
  TensorId loss = -1;
  // f64 [trainable chunks, ranks]: holds the sum of squares of each slice (gradient_slice.hpp) of
  // each reduced gradient, of which there are as many as ranks.
  TensorId norms = -1;
  TensorId control = -1;  // f64 [kControlWords]; a step's commit writes it, updates read it

  TensorId of(BatchField field, int stack = 0) const;
  bool operator==(WellKnown const&) const = default;
};

// Numbers the words of `control`. The commit writes those that every optimizer reads, and the
// optimizer's UpdateRule writes those that only this optimizer reads (graph/optimizers).
enum Control : int {
  control_go,              // 1: the step is committed; 0: updates do nothing
  control_gradient_scale,  // clip factor / sum of all ranks' loss weights
  control_learning_rate,
  control_bias1,   // AdamW's 1 - beta1^t
  control_bias2,   // AdamW's 1 - beta2^t
  control_update,  // t, the number of this update: 1 for the first one
  control_new2,    // Adafactor's t^beta2_decay, what the newest gradient's square counts
  kControlWords = 8,
};
using ControlWords = std::array<double, kControlWords>;

// Says what a forward graph is built for: a loss to differentiate, a loss alone (without dropout),
// or the logits of one row.
enum class Purpose : std::uint8_t { train, eval, generate };

// Says what one step of a graph to generate runs, for a single sequence.
struct Decoding {
  std::int64_t rows = 1;      // tokens that a step feeds, to the decoder if there is one
  std::int64_t capacity = 1;  // rows whose keys and values are kept from step to step
  std::int64_t inputs = 0;    // rows of an encoder
  bool encodes = true;        // whether an encoder runs; if not, an earlier step has run it
};

struct Graph {
  Purpose purpose = Purpose::train;
  Decoding decoding;  // has a meaning only if `purpose` is generate
  IdVector<Tensor> tensors;
  IdVector<Op> ops;  // first forward, then backward, then norm, then update
  IdVector<Block> blocks;
  IdVector<Chunk> chunks;
  IdVector<GradientPart> parts;  // in the order of the ops that make them
  WellKnown known;
  Arithmetic arithmetic;
  OptimConfig optim;  // used only to train
  std::uint64_t seed = 0;

  Op const& op(int id) const { return ops[id]; }
  Tensor const& tensor(View const& view) const { return tensors[view.tensor]; }
  std::int64_t parameter_count() const;
  std::int64_t trained_parameter_count() const;
};

// Lists the backward ops of one block in the order in which they run.
struct BackwardGroup {
  int block = -1;
  std::vector<int> ops;
};
// Returns the groups of a graph's backward pass, in the order in which they run.
IdVector<BackwardGroup> backward_groups(Graph const& graph);

}  // namespace spillway
