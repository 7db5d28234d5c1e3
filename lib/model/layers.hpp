// The layers that families are written with: each call appends ops and the parameters they need.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "graph/attention.hpp"
#include "graph/build.hpp"

namespace spillway {

// How the matrix of a linear layer lies, as its Hugging Face tensor does: GPT-2's Conv1D has
// [in, out], nn.Linear has [out, in].
enum class Orientation : std::uint8_t { in_out, out_in };

// The heads of an attention: how many, how wide, and which keys a query sees (graph/attention.hpp).
struct Heads {
  std::int64_t heads = 0, kv_heads = 0, head_size = 0;
  bool causal = false;
  std::int64_t window = 0;
  double scale = 1;
};

// What batches bring of a stack beside its tokens. In a `causal` one rows see no later rows: to
// generate, their keys and values are kept for later steps, which bring positions.
struct StackFields {
  bool padding = false, token_types = false, causal = false;
};

// Activations are [rows, columns] in the run's precision, rows = micro x their stack's sequence. Op
// names are local to the open block; parameters are named in full and go to the chunk begun last.
class Layers {
 public:
  static constexpr Init kNormal{Init::Kind::normal, 0.02};

  // `has_biases` says whether linear layers and norms have biases unless they are told otherwise.
  Layers(Config const& config, std::int64_t vocab, Orientation orientation, bool has_biases,
         Graph& graph);

  // A family adds its stacks of rows first, in order: batches then bring the tokens of each and,
  // where data.pack asks for them or rows may be padding, their documents.
  Stack add_stack(std::int64_t sequence, StackFields const& fields = {});
  // The loss is taken of this stack's rows or, to generate, the logits of one of them: batches then
  // bring what that needs.
  void add_objective(Stack const& stack);

  void begin_block(std::string const& name, bool layer) { m_builder.begin_block(name, layer); }
  void end_block() { m_builder.end_block(); }
  void begin_chunk(std::string const& name) { m_chunk = m_builder.add_chunk(name); }
  void finish() { m_builder.finish(); }
  // False: from here on, what is called adds parameters alone, and no op runs.
  void run_ops(bool runs) { m_runs_ops = runs; }

  // Parameters, of which only matrices are decayed unless optim.decay_embeddings or decay_all.
  View embedding(std::string const& name, std::int64_t rows, Init init = kNormal);
  View matrix(std::string const& name, Shape shape, Init init = kNormal);
  View vector(std::string const& name, std::int64_t n);  // of zeros

  // wte[token] + wpe[position] + wtt[type]: tables that a model lacks are absent.
  View embed(std::string const& op, Stack const& stack, View const& wte, View const& wpe = {},
             View const& wtt = {});
  // Parameters <name>.weight and, where there are biases, <name>.bias.
  View layernorm(std::string const& op, std::string const& name, View const& x);
  // Each group of `columns` columns by itself, all with one <name>.weight: rows, or their heads.
  View rmsnorm(std::string const& op, std::string const& name, View const& x, std::int64_t columns);
  // One product of x with several weights, side by side: x [w1 w2 ..] + [bias1 bias2 ..]. Several
  // must lie as out_in.
  struct Part {
    std::string name;
    std::int64_t columns;
    Init init = kNormal;
  };
  View linear(std::string const& op, std::vector<Part> const& parts, View const& x) {
    return linear(op, parts, x, m_has_biases);
  }
  View linear(std::string const& op, std::vector<Part> const& parts, View const& x, bool bias) {
    return product(op, parts, x, bias, {});
  }
  // dropout(branch w + bias) + x
  View residual(std::string const& op, std::string const& name, View const& branch, Init init,
                View const& x);
  // Turns the heads that x begins with. `attributes` of a stack's rows: their sequence is set here.
  View rope(std::string const& op, View const& x, Stack const& stack, RopeAttributes attributes);
  // The bias of attention by distance, alike for all queries of a stack: parameter `name`, which
  // is not decayed as an embedding.
  View relative_bias(std::string const& op, std::string const& name, Stack const& stack,
                     bool bidirectional, Init init);
  // Rows of the stack `queries` look at rows of the stack `keys`; of a causal stack that generates,
  // at all rows that earlier steps have brought, too.
  View attention(std::string const& op, View const& q, View const& k, View const& v,
                 Stack const& queries, Stack const& keys, Heads const& heads,
                 View const& distance_bias = {});
  View activate(std::string const& op, View const& x, Activation form);
  // act(gate) up, of the left and the right half of x [rows, 2 n]
  View gated(std::string const& op, View const& x, Activation form);
  View dropout(std::string const& op, View const& x);  // x itself where nothing is dropped
  // x itself, which later steps of generating find as it is.
  View kept(View const& x);
  // The row whose logits are asked for, to generate; else x itself.
  View selected(std::string const& op, View const& x);
  // The loss of logits scale x w^T + bias, w [vocab, columns of x], or these themselves.
  void head(View const& x, View const& w, View const& bias = {}, double scale = 1);

 private:
  Config const& m_config;
  Graph& m_graph;
  GraphBuilder m_builder;
  bool m_drops;  // anything at all
  bool m_has_biases;
  DType m_dtype;
  std::int64_t m_vocab;
  Orientation m_orientation;
  int m_stacks = 0, m_objective = 0;
  int m_chunk = -1;
  bool m_runs_ops = true;

  bool generates() const { return m_graph.purpose == Purpose::generate; }
  template <OpKind kind>
  void append(std::string const& name, Operands<kind> const& operands, Attributes attributes = {},
              double flops = 0) {
    if (m_runs_ops) m_builder.append<kind>(name, operands, std::move(attributes), flops);
  }
  View known(TensorId id) const;
  View batch(BatchField field, int stack = 0) const {
    return known(m_graph.known.of(field, stack));
  }
  View batch_if_there(BatchField field, int stack) const;
  // All rows of the stack so far, of which x are the latest.
  View cached(std::string const& op, View const& x, Stack const& stack);
  View parameter(std::string const& name, Shape shape, Init init, bool decay);
  View activation(std::string const& name, std::int64_t rows, std::int64_t columns);
  View weights(std::vector<Part> const& parts, std::int64_t rows);
  View biases(std::vector<Part> const& parts);
  View product(std::string const& op, std::vector<Part> const& parts, View const& x, bool bias,
               View const& addend);
};

}  // namespace spillway
