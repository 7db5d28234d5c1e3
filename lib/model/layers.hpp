// Model families are written with these layers. A layer appends ops and the parameters that they
// need.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/enum_array.hpp"
#include "config/config.hpp"
#include "graph/attention.hpp"
#include "graph/build.hpp"
#include "model/adapters.hpp"
#include "model/freeze.hpp"

namespace spillway {

// Says how the matrix of a linear layer lies, which is as in its Hugging Face tensor: [in, out] in
// GPT-2's Conv1D, [out, in] in nn.Linear.
enum class Orientation : std::uint8_t { in_out, out_in };

// Describes an attention's heads: how many, how wide, and which keys a query sees
// (graph/attention.hpp).
struct Heads {
  std::int64_t heads = 0, kv_heads = 0, head_size = 0;
  bool causal = false;
  std::int64_t window = 0;
  double scale = 1;
};

// Says what batches bring for a stack beside its tokens. Rows of a `causal` stack see no later
// rows. When generating, keys and values of a causal stack are kept for later steps, and batches
// bring its positions.
struct StackFields {
  bool padding = false, token_types = false, causal = false;
};

// Activations are [rows, columns] in the run's precision, with rows = micro x their stack's
// sequence. Names of ops are local to the open block. Names of parameters are complete, and
// parameters go to the chunk that was begun last, which is several where some are frozen and others
// are not. Linear layers have the adapters that model.lora says, and frozen ones of blocks that are
// layers are quantized as model.quantize says.
class Layers {
 public:
  static constexpr Init kNormal{Init::Kind::normal, 0.02};

  // `has_biases` says whether LayerNorms have biases, and linear layers unless they are told
  // otherwise.
  Layers(Config const& config, std::int64_t vocab, Orientation orientation, bool has_biases,
         Graph& graph);

  // Adds a stack of rows. A family adds its stacks before all else, an encoder's before the
  // decoder's. Batches then bring the stack's tokens and what else it needs of documents, positions
  // and token types.
  Stack add_stack(std::int64_t sequence, StackFields const& fields = {});
  // The loss is taken of this stack's rows or, when generating, the logits of one of them. Batches
  // then bring what that needs, such as targets and weights.
  void add_objective(Stack const& stack);

  void begin_block(std::string const& name, bool layer) { m_builder.begin_block(name, layer); }
  void end_block() { m_builder.end_block(); }
  void begin_chunk(std::string const& name) { m_chunk = {name, m_builder.add_chunk(name), {}}; }
  // Throws Error(bad_input) if model.freeze leaves nothing to train, if it or model.lora names what
  // the model does not have, or if model.quantize finds nothing.
  void finish();
  // After run_ops(false), calls add parameters but no ops until run_ops(true).
  void run_ops(bool runs) { m_runs_ops = runs; }

  // `embedding` and `matrix` add a parameter. Matrices are decayed, and embeddings only if
  // optim.decay_embeddings or optim.decay_all is set.
  View embedding(std::string const& name, std::int64_t rows, Init init = kNormal);
  View matrix(std::string const& name, Shape shape, Init init = kNormal);
  // Adds a vector that starts as zeros. It is decayed only if optim.decay_all is set.
  View vector(std::string const& name, std::int64_t n);

  // Returns wte[token] + wpe[position] + wtt[type]. Tables that a model lacks are absent.
  View embed(std::string const& op, Stack const& stack, View const& wte, View const& wpe = {},
             View const& wtt = {});
  // Normalises rows with the parameters <name>.weight and, if there are biases, <name>.bias.
  View layernorm(std::string const& op, std::string const& name, View const& x);
  // Normalises each group of `columns` columns by itself, all with one <name>.weight. A group is a
  // row or a head.
  View rmsnorm(std::string const& op, std::string const& name, View const& x, std::int64_t columns);
  // Returns one product of x with the weights of several projections side by side:
  // x [w1 w2 ..] + [bias1 bias2 ..]. If matrices lie as in_out, there must be only one.
  struct Projection {
    std::string name;
    std::int64_t columns;
    Init init = kNormal;
  };
  View linear(std::string const& op, std::vector<Projection> const& projections, View const& x) {
    return linear(op, projections, x, m_has_biases);
  }
  View linear(std::string const& op, std::vector<Projection> const& projections, View const& x,
              bool bias) {
    return product(op, projections, x, bias, {});
  }
  // Returns dropout(branch w + bias) + x, where `projection` says what w is.
  View residual(std::string const& op, Projection const& projection, View const& branch,
                View const& x);
  // Describes an MLP: a product of x with `in`, an activation, a product with `out`. With two
  // matrices in `in`, the activation of the first one's columns multiplies those of the second one.
  struct Mlp {
    std::string in_op, act_op;  // names of ops, if each is one by itself
    std::vector<Projection> in;
    Projection out;
    Activation form;
    bool drops_inside = false;  // whether dropout comes before the second product, too
  };
  // Returns dropout(MLP(x)) + stream. If there are more rows than Arithmetic::mlp_chunk, one op
  // takes so many rows at a time.
  View mlp(Mlp const& mlp, View const& x, View const& stream);
  // Rotates the heads that x begins with. The sequence in `attributes` is replaced by the stack's.
  View rope(std::string const& op, View const& x, Stack const& stack, RopeAttributes attributes);
  // Returns attention's bias by distance, which is the same for all queries of a stack. Its
  // parameter `name` is not decayed, even if embeddings are, unless optim.decay_all is set.
  View relative_bias(std::string const& op, std::string const& name, Stack const& stack,
                     bool bidirectional, Init init);
  // Rows of the stack `queries` attend to rows of the stack `keys`. If `heads` is causal and the
  // graph generates, they also attend to all rows that earlier steps have brought.
  View attention(std::string const& op, View const& q, View const& k, View const& v,
                 Stack const& queries, Stack const& keys, Heads const& heads,
                 View const& distance_bias = {});
  View activate(std::string const& op, View const& x, Activation form);
  // Returns act(gate) up, where gate and up are the left and the right half of x [rows, 2 n].
  View gated(std::string const& op, View const& x, Activation form);
  // Returns x itself if nothing is dropped.
  View dropout(std::string const& op, View const& x);
  // Returns x itself. If the graph generates, x is kept for later steps.
  View keep_for_later_steps(View const& x);
  // Returns the row whose logits are asked for if the graph generates, otherwise x itself.
  View selected(std::string const& op, View const& x);
  // Appends the loss of the logits scale x w^T + bias, with w [vocab, columns of x]. If the graph
  // generates, appends only the logits.
  void head(View const& x, View const& w, View const& bias = {}, double scale = 1);

 private:
  Config const& m_config;
  Graph& m_graph;
  GraphBuilder m_builder;
  bool m_drops;  // whether any dropout is applied
  bool m_has_biases;
  DType m_dtype;
  std::int64_t m_vocab;
  Orientation m_orientation;
  int m_stacks = 0, m_objective = 0;
  // Says what becomes of a parameter. Each of these has a chunk of its own.
  enum class Kept : std::uint8_t { trained, frozen, quantized };
  // The chunk that was begun last. Its first parameter decides what it has, and there are others
  // for other parameters.
  struct Begun {
    std::string name;
    int first = -1;
    EnumArray<Kept, std::optional<int>, 3> of = {};
  } m_chunk;
  Freeze m_freeze;
  AdapterTargets m_targets;
  bool m_runs_ops = true;
  bool m_quantizes = false;  // whether some parameter so far is quantized

  bool generates() const { return m_graph.purpose == Purpose::generate; }
  template <OpKind kind>
  void append(std::string const& name, Operands<kind> const& operands, Attributes attributes = {},
              double flops = 0) {
    if (m_runs_ops) m_builder.append<kind>(name, operands, std::move(attributes), flops);
  }
  View whole_tensor(TensorId id) const;
  View batch(BatchField field, int stack = 0) const {
    return whole_tensor(m_graph.known.of(field, stack));
  }
  View batch_if_there(BatchField field, int stack) const;
  // Stores x, the latest rows of the stack, in a cache. Returns the cache with all rows so far.
  View cached(std::string const& op, View const& x, Stack const& stack);
  // Says what becomes of parameters of which one op reads all.
  Kept kept(std::vector<GraphBuilder::NewParameter> const& parameters);
  int chunk_of(Kept kept);
  View fused(std::vector<GraphBuilder::NewParameter> const& parameters, bool decay);
  View parameter(std::string const& name, Shape shape, Init init, bool decay);
  View activation(std::string const& name, std::int64_t rows, std::int64_t columns);
  View weights(std::string const& op, std::vector<Projection> const& projections,
               std::int64_t rows);
  // Adds quantized parameters, and ops that make one matrix of all for the op `op`.
  View dequantized(std::string const& op,
                   std::vector<GraphBuilder::NewParameter> const& parameters);
  View biases(std::vector<Projection> const& projections);
  View product(std::string const& op, std::vector<Projection> const& projections, View const& x,
               bool bias, View const& addend);
  void adapt(std::string const& op, std::vector<Projection> const& projections, View const& x,
             View const& y);
  void add_adapter(std::string const& op, Projection const& layer, View const& x, View const& y);
  bool has_adapters(std::vector<Projection> const& projections);
  bool drops_branches() const { return m_drops && m_config.model.dropout > 0; }
  // Returns dropout(branch) + x, where the op `op` has made the branch.
  View joined(std::string const& op, View const& branch, View const& x);
  // Returns the attributes of dropout by the op that is appended next, which has so many rows.
  DropoutAttributes next_dropout(std::int64_t rows, double p) const;
  View dropped(std::string const& op, View const& x, double p);
  View mlp_by_tiles(Mlp const& mlp, View const& x, View const& addend);
};

}  // namespace spillway
