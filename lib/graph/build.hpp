// Appends to a Graph: what model families and backward rules use.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "graph/operands.hpp"

namespace spillway {

class GradientMap;

// Writes a forward graph, block by block. Chunks are open until `finish`. In an open block, names
// of ops and tensors get the block's name in front.
class GraphBuilder {
 public:
  explicit GraphBuilder(Graph& graph) : m_graph(graph) {}

  void begin_block(std::string const& name, bool layer);
  void end_block();
  // Of the open block. A block with trainable and frozen parameters opens two.
  int add_chunk(std::string const& name, bool trainable = true);
  View add_parameter(int chunk, std::string const& name, Shape shape, Init init, bool decay);
  // Adds parameters whose shapes differ in their first extent alone, one behind the other, and
  // returns one View of all: so one product reads q, k and v.
  struct NewParameter {
    std::string name;
    Shape shape;
    Init init;
  };
  View add_fused(int chunk, std::vector<NewParameter> const& parameters, bool decay);
  View add_tensor(std::string const& name, Role role, DType dtype, Shape shape);
  // Adds a field of the batch, for `arithmetic.micro` sequences of the stack.
  View add_batch(BatchField field, Stack const& stack);

  // Appends one op of the open block; outputs are tensors made before.
  template <OpKind kind>
  void append(std::string const& name, Operands<kind> const& operands, Attributes attributes = {},
              double flops = 0) {
    Op op;
    set_operands(op, operands);
    append_op(name, std::move(op), std::move(attributes), flops);
  }
  // Fixes the chunks' tensors. To train: gradients and states of what is trainable, norms, control.
  void finish();

  Graph& graph() { return m_graph; }

 private:
  Graph& m_graph;
  int m_block = -1;

  void append_op(std::string const& name, Op op, Attributes attributes, double flops);
  std::string full_name(std::string const& name) const;
  void require_open_block(std::string const& name) const;
};

// Passes over the forward graph.
// Appends the backward ops of every forward op that trainable parameters lie before, last to
// first, by the rule of its kind. Throws std::logic_error with op and tensor where that would lose
// or damage a part of a gradient.
void append_backward(Graph& graph);
// Appends per trainable chunk `square_norm` and `adamw` (attributes from the optimizer's settings).
struct AdamWSettings {
  double beta1 = 0.9, beta2 = 0.95, eps = 1e-8, weight_decay = 0.1;
};
void append_update(Graph& graph, AdamWSettings const& settings);

// Asks `bytes` for the scratch of every op (the kernels know; the pure side does not).
void size_workspaces(Graph& graph,
                     std::function<std::int64_t(Graph const&, Op const&)> const& bytes);

// What a backward rule may ask and do while one forward op is being differentiated.
class BackwardContext {
 public:
  BackwardContext(Graph& graph, GradientMap& gradients, Op forward)
      : m_graph(graph), m_gradients(gradients), m_forward(std::move(forward)) {}

  Op const& forward() const { return m_forward; }
  Graph& graph() { return m_graph; }
  // Does anything need this input's gradient? Nothing needs that of an absent one. What is
  // contributed all the same is not used.
  bool wants(View const& input) const;
  View incoming(View const& output) const;  // d loss / d output; complete when a rule runs

  // The gradient a rule writes for a forward activation. `addend`: an earlier contribution that the
  // rule's op must add (in fp32, rounding once); `gradient` then replaces it.
  struct Contribution {
    View gradient;
    std::optional<View> addend;
  };
  Contribution contribute(View const& input);
  // For an op that cannot add: where it writes. The pass adds an earlier contribution afterwards.
  View contribute_alone(View const& input);
  // The gradient of `input` is `gradient` itself (of equal shape): nothing to compute or copy.
  void pass_on(View const& input, View const& gradient);

  // Where the rule's next op writes a parameter's gradient: in the chunk's for the first use of
  // the pass. Later uses give parts (see GradientPart), which the pass adds.
  View parameter_gradient(View const& parameter);
  // For ops that can add in place: always in the chunk's gradient, which from the second use on is
  // the `sum` that `emit` is told of.
  struct InPlace {
    View gradient;
    std::optional<View> sum;
  };
  InPlace parameter_gradient_in_place(View const& parameter);

  View add_tensor(std::string const& suffix, Role role, DType dtype, Shape shape);
  // Appends one op and returns its id. It adds to the output `sum`, if there is one.
  template <OpKind kind>
  int emit(std::string const& suffix, Operands<kind> const& operands, Attributes attributes = {},
           double flops = 0, std::optional<View> const& sum = {}) {
    Op op;
    set_operands(op, operands);
    return emit_op(suffix, std::move(op), std::move(attributes), flops, sum);
  }
  void elide_forward();  // the emitted backward op computes the forward op's outputs too

  void finish();  // the pass calls it after the rule: appends what the rule's ops could not add

 private:
  struct Sum {
    View earlier, fresh, result;
  };

  Graph& m_graph;
  GradientMap& m_gradients;
  Op m_forward;  // a copy: emitting moves the graph's list
  std::vector<Sum> m_deferred;
  struct NewPart {
    TensorId tensor;
    View written;  // by the rule's op
    GradientPart part;
  };
  std::vector<NewPart> m_new_parts;

  int emit_op(std::string const& suffix, Op op, Attributes attributes, double flops,
              std::optional<View> const& sum);
  View new_gradient(View const& input, std::string const& prefix);
  View unused(View const& input);
  void put(View const& input, TensorId gradient);
  View gradient_of_chunk(View const& parameter);
  View new_part(View const& parameter);
  void note_parts(Op const& op);
};

using BackwardRule = void (*)(BackwardContext&);
// Null: the kind has none. Rules are in backward_rules/<rule>.cpp.
BackwardRule backward_rule(OpKind kind);

}  // namespace spillway
