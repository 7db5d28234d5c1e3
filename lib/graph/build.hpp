// Appends to a Graph: what model families and backward rules use.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.hpp"

namespace spillway {

// Writes a forward graph, block by block. Chunks are open until `finish`.
class GraphBuilder {
 public:
  explicit GraphBuilder(Graph& graph) : m_graph(graph) {}

  void begin_block(std::string const& name, bool layer);
  void end_block();
  int add_chunk(std::string const& name);  // of the open block
  View add_parameter(int chunk, std::string const& name, Shape shape, Init init, bool decay);
  View add_tensor(std::string const& name, Role role, DType dtype, Shape shape);

  // Appends one op of the open block; outputs are tensors made before.
  void append(OpKind kind, std::string const& name, std::vector<View> inputs,
              std::vector<View> outputs, Attributes attributes = {}, double flops = 0);
  void finish();  // fixes the chunks' tensors (parameter, gradient, remainder, moments)

  Graph& graph() { return m_graph; }

 private:
  Graph& m_graph;
  int m_block = -1;
};

// Passes over the forward graph.
// Appends the backward ops of every forward op, last to first, by the rule of its kind.
void append_backward(Graph& graph);
// Appends per chunk `square_norm` and `adamw` (attributes from the optimizer's settings).
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
  BackwardContext(Graph& graph, Op forward) : m_graph(graph), m_forward(std::move(forward)) {}

  Op const& forward() const { return m_forward; }
  Graph& graph() { return m_graph; }
  bool wants(View const& input) const;      // does anything need this input's gradient?
  View incoming(View const& output) const;  // d loss / d output; complete when a rule runs

  // The gradient a rule writes for a forward activation. `addend`: an earlier contribution that the
  // rule's op must add (in fp32, rounding once); `gradient` then replaces it.
  struct Contribution {
    View gradient;
    std::optional<View> addend;
  };
  Contribution contribute(View const& input);

  // The place in the chunk's gradient for a parameter. `accumulate`: another op of this micro-batch
  // wrote it before (a shared parameter), so add to it in place.
  struct ParameterGradient {
    View gradient;
    bool accumulate;
  };
  ParameterGradient parameter_gradient(View const& parameter);

  View add_tensor(std::string const& suffix, Role role, DType dtype, Shape shape);
  int emit(OpKind kind, std::string const& suffix, std::vector<View> inputs,
           std::vector<View> outputs, Attributes attributes = {}, double flops = 0,
           std::vector<int> in_place = {});
  void elide_forward();  // the emitted backward op computes the forward op's outputs too

 private:
  Graph& m_graph;
  Op m_forward;  // a copy: emitting moves the graph's list
};

using BackwardRule = void (*)(BackwardContext&);
BackwardRule backward_rule(OpKind kind);  // null: the kind has none

}  // namespace spillway
