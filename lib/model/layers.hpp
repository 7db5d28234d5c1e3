// The layers that families are written with: each call appends ops and the parameters they need.
#pragma once

#include <cstdint>
#include <string>

#include "config/config.hpp"
#include "graph/attention.hpp"
#include "graph/build.hpp"

namespace spillway {

// How the matrix of a linear layer lies, as its Hugging Face tensor does: GPT-2's Conv1D has
// [in, out], nn.Linear has [out, in].
enum class Orientation : std::uint8_t { in_out, out_in };

// Activations are [rows, columns] in the run's precision, rows = micro x their stack's sequence. Op
// names are local to the open block; parameters are named in full and go to the chunk begun last.
class Layers {
 public:
  static constexpr Init kNormal{Init::Kind::normal, 0.02};

  Layers(Config const& config, std::int64_t vocab, Orientation orientation, Graph& graph);

  // A family adds its stacks of rows first, in order: batches then bring the tokens of each.
  Stack add_stack(std::int64_t sequence);
  // The loss is taken of this stack's rows or, to generate, the logits of one of them: batches then
  // bring what that needs.
  void add_objective(Stack const& stack);

  void begin_block(std::string const& name, bool layer) { m_builder.begin_block(name, layer); }
  void end_block() { m_builder.end_block(); }
  void begin_chunk(std::string const& name) { m_chunk = m_builder.add_chunk(name); }
  void finish() { m_builder.finish(); }

  View embedding(std::string const& name, std::int64_t rows);    // parameter, never decayed
  View matrix(std::string const& name, Shape shape, Init init);  // parameter, decayed
  // Parameter <name>.bias, where the model has biases, else View{}.
  View bias(std::string const& name, std::int64_t n);

  // wte[token] + wpe[position] + wtt[type]: tables that a model lacks are absent. All types are 0.
  View embed(std::string const& op, Stack const& stack, View const& wte, View const& wpe = {},
             View const& wtt = {});
  // Parameters <name>.weight and, where the model has biases, <name>.bias.
  View layernorm(std::string const& op, std::string const& name, View const& x);
  // Each group of `columns` columns by itself, all with one <name>.weight: rows, or their heads.
  View rmsnorm(std::string const& op, std::string const& name, View const& x, std::int64_t columns);
  View linear(std::string const& op, std::string const& name, View const& x, std::int64_t n);
  // dropout(branch w + bias) + x
  View residual(std::string const& op, std::string const& name, View const& branch, Init init,
                View const& x);
  // Turns the heads that x begins with. `attributes` of a stack's rows: their sequence is set here.
  View rope(std::string const& op, View const& x, Stack const& stack, RopeAttributes attributes);
  // Weights are dropped where anything is: by attributes.dropout in a model with dropout.
  View attention(std::string const& op, View const& q, View const& k, View const& v,
                 AttentionAttributes attributes);
  View activate(std::string const& op, View const& x, Activation form);
  // act(gate) up, of the left and the right half of x [rows, 2 n]
  View gated(std::string const& op, View const& x, Activation form);
  View dropout(std::string const& op, View const& x);  // x itself where nothing is dropped
  View select_row(std::string const& op, View const& x);
  // Of logits scale (x w^T + bias), w [vocab, columns of x].
  void loss(std::string const& op, View const& x, View const& w, View const& bias = {},
            double scale = 1);
  void logits(std::string const& op, View const& x, View const& w, View const& bias = {});

 private:
  Config const& m_config;
  Graph& m_graph;
  GraphBuilder m_builder;
  bool m_drops;
  DType m_dtype;
  std::int64_t m_vocab;
  Orientation m_orientation;
  int m_stacks = 0, m_objective = 0;
  int m_chunk = -1;

  View known(TensorId id) const;
  View batch(BatchField field, int stack = 0) const {
    return known(m_graph.known.of(field, stack));
  }
  View parameter(std::string const& name, Shape shape, Init init, bool decay);
  View activation(std::string const& name, std::int64_t rows, std::int64_t columns);
  View product(std::string const& op, std::string const& name, View const& x, std::int64_t n,
               Init init, View const& addend);
};

}  // namespace spillway
