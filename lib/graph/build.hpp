// Model families and backward rules build a Graph with what is declared here.
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

// A GraphBuilder writes a forward graph, block by block. Parameters may be added to chunks until
// `finish`. The name of the open block is put in front of the names of ops and tensors. A mistake
// in the graph throws std::logic_error, and a tensor of more than kMostBytes throws
// Error(bad_input).
class GraphBuilder {
 public:
  explicit GraphBuilder(Graph& graph) : m_graph(graph) {}

  void begin_block(std::string const& name, bool layer);
  void end_block();
  // Adds a chunk to the open block and returns its id. A block that has both trainable and frozen
  // parameters needs two, and another one for those that are quantized.
  int add_chunk(std::string const& name, bool trainable = true);
  View add_parameter(int chunk, std::string const& name, Shape shape, Init init, bool decay);
  // Adds parameters whose shapes differ in their first extent alone, one behind the other. Returns
  // one View of all of them, so that a single product can make q, k and v.
  struct NewParameter {
    std::string name;
    Shape shape;
    Init init;
  };
  View add_fused(int chunk, std::vector<NewParameter> const& parameters, bool decay);
  // Adds a parameter whose bytes an op turns into a matrix. The chunk must be for such alone.
  // Returns a View of the bytes.
  View add_quantized(int chunk, std::string const& name, Quantized const& quantized, Init init);
  View add_tensor(std::string const& name, Role role, DType dtype, Shape shape);
  // Adds a field of the batch for `arithmetic.micro` sequences of the stack. Returns a View of its
  // whole tensor.
  View add_batch(BatchField field, Stack const& stack);

  // Appends an op to the open block. The tensors of its outputs must be there already.
  template <OpKind kind>
  void append(std::string const& name, Operands<kind> const& operands, Attributes attributes = {},
              double flops = 0) {
    Op op;
    set_operands(op, operands);
    append_op(name, std::move(op), std::move(attributes), flops);
  }
  // Fixes the sizes of the chunks' tensors. A graph to train also gets gradients and states of
  // trainable chunks, and the tensors `norms` and `control`.
  void finish();

  Graph& graph() { return m_graph; }

 private:
  Graph& m_graph;
  int m_block = -1;

  void append_op(std::string const& name, Op op, Attributes attributes, double flops);
  std::string full_name(std::string const& name) const;
  void require_open_block(std::string const& name) const;
};

// Appends the backward ops of each forward op through which the loss depends on trainable
// parameters, from the last one to the first, by the rule of its kind. The graph must have all of
// its forward ops. Throws std::logic_error, naming op or tensor, if a part of a gradient would be
// lost or damaged, if an op that needs a rule has none, or if the loss does not depend on a
// trainable parameter.
void append_backward(Graph& graph);
// Appends `square_norm` and the op of the graph's optimizer for each trainable chunk.
void append_update(Graph& graph);

// Sets every op's workspace to the size that `bytes` returns: kernels know it, and lib/graph does
// not use kernels. Throws Error(bad_input) if a size exceeds kMostBytes.
void size_workspaces(Graph& graph,
                     std::function<std::int64_t(Graph const&, Op const&)> const& bytes);

// A BackwardContext differentiates one forward op. A backward rule asks it for gradients and
// appends backward ops with it.
class BackwardContext {
 public:
  BackwardContext(Graph& graph, GradientMap& gradients, Op forward)
      : m_graph(graph), m_gradients(gradients), m_forward(std::move(forward)) {}

  Op const& forward() const { return m_forward; }
  Graph& graph() { return m_graph; }
  // Returns whether this input needs a gradient; an absent one never does. A rule may contribute a
  // gradient that is not needed, and nothing uses it.
  bool wants(View const& input) const;
  // Returns d loss / d output, with all contributions. Throws std::logic_error if only a part of
  // the output contributes to the loss.
  View incoming(View const& output) const;

  // A Contribution says where a rule's op writes the gradient of a forward activation. The op must
  // add the earlier contribution `addend`, if there is one, in fp32, and round once. From then on
  // `gradient` is the sum of both contributions.
  struct Contribution {
    View gradient;
    std::optional<View> addend;
  };
  Contribution contribute(View const& input);
  // Returns where an op that cannot add writes the gradient. `finish` adds the earlier
  // contributions to it.
  View contribute_alone(View const& input);
  // Contributes the existing `gradient` to `input`, which must be a whole tensor of the same shape,
  // without an op that copies it.
  void pass_on(View const& input, View const& gradient);

  // Returns where the rule's next op writes the gradient of a parameter: the first use of the
  // parameter in the pass is written to the chunk's gradient, later ones to parts (see
  // GradientPart), which `finish` adds.
  View parameter_gradient(View const& parameter);
  // Serves an op that can add in place: `gradient` is the chunk's gradient for every use of the
  // parameter. From the second use on, `sum` is equal to `gradient` and must be passed to `emit`.
  struct InPlace {
    View gradient;
    std::optional<View> sum;
  };
  InPlace parameter_gradient_in_place(View const& parameter);

  // Returns a matrix to multiply by: the operand of the forward op or, if that was made of
  // quantized bytes, what new ops make of these. So it need not be in memory between the passes.
  View weights(View const& input);

  View add_tensor(std::string const& suffix, Role role, DType dtype, Shape shape);
  // Appends an op and returns its id. The op adds to `sum`, if there is one, which must be among
  // its outputs.
  template <OpKind kind>
  int emit(std::string const& suffix, Operands<kind> const& operands, Attributes attributes = {},
           double flops = 0, std::optional<View> const& sum = {}) {
    Op op;
    set_operands(op, operands);
    return emit_op(suffix, std::move(op), std::move(attributes), flops, sum);
  }
  // Marks the forward op as elided, because the emitted backward op computes its outputs too.
  void elide_forward();

  // Appends the sums that the rule's ops could not make. `append_backward` calls it after a rule.
  void finish();

 private:
  struct Sum {
    View earlier, fresh, result;
  };

  Graph& m_graph;
  GradientMap& m_gradients;
  Op m_forward;  // a copy, since appending ops may move the graph's list
  std::vector<Sum> m_deferred;
  struct NewPart {
    TensorId tensor;
    View written;  // where the rule's op writes: the part or the chunk's gradient
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
// Returns the rule of a kind, or null if it has none. Rules are in backward_rules/<rule>.cpp.
BackwardRule backward_rule(OpKind kind);

}  // namespace spillway
