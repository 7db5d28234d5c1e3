#include "tests/support/random_graph.hpp"

#include "graph/build.hpp"
#include "tests/support/random_layers.hpp"

namespace spillway::test {

namespace {

class GraphGenerator {
 public:
  GraphGenerator(Random& draws, RandomGraphOptions const& options)
      : m_draws(draws), m_layers(m_graph, draws, options) {
    bool const two = m_layers.chance(35);
    if (two) m_stacks.push_back(m_layers.stack(0, "encoder"));
    m_stacks.push_back(m_layers.stack(two ? 1 : 0, "decoder"));
    int const layers = m_layers.between(options.layers);
    m_layers.add_batch(m_stacks);
    for (std::size_t i = 0; i < m_stacks.size(); ++i) add_stack(m_stacks[i], i, layers);
    add_head(m_stacks.back());
    m_graph.arithmetic.ranks = options.ranks;
    m_layers.builder().finish();
  }

  Graph take() { return std::move(m_graph); }

 private:
  void add_stack(Activations& stack, std::size_t number, int layers) {
    bool const reads_another = number > 0;
    auto& builder = m_layers.builder();
    m_layers.set_frozen(!reads_another && m_layers.chance(25));
    builder.begin_block(stack.name + ".embed", false);
    m_layers.open_block();
    stack.values.push_back(m_layers.embed(stack));
    builder.end_block();
    for (int i = 0; i < layers; ++i) {
      if (m_layers.chance(70)) m_layers.set_frozen(false);
      builder.begin_block(stack.name + "." + std::to_string(i), true);
      m_layers.open_block();
      for (int step = 1 + below(m_draws, 2); step > 0; --step) add_step(stack);
      // The last layer always reads the previous stack, because otherwise nothing might read it.
      if (reads_another && (i + 1 == layers || m_layers.chance(40)))
        m_layers.cross_attention(stack, m_stacks[number - 1]);
      builder.end_block();
    }
  }

  void add_step(Activations& stack) {
    switch (below(m_draws, 6)) {
      case 0:
      case 1:
        return m_layers.self_attention(stack);
      case 2:
        return m_layers.feed_forward(stack);
      case 3:
        return m_layers.product_of_earlier(stack);
      case 4:
        return m_layers.add_earlier(stack);
      default:
        return m_layers.embed_again(stack);
    }
  }

  void add_head(Activations const& stack) {
    m_layers.builder().begin_block("head", false);
    m_layers.open_block();
    m_layers.set_frozen(m_layers.has_trainable() && m_layers.chance(15));
    m_layers.loss(stack);
    m_layers.builder().end_block();
  }

  Random& m_draws;
  Graph m_graph;
  RandomLayers m_layers;
  std::vector<Activations> m_stacks;
};

}  // namespace

Graph random_graph(Random& draws, RandomGraphOptions const& options) {
  Graph graph = GraphGenerator(draws, options).take();
  append_backward(graph);
  append_update(graph);
  // Some updates take whole chunks only, not slices of them.
  for (Op& op : graph.ops) op.whole_chunk = op.phase == Phase::update && below(draws, 4) == 0;
  return graph;
}

}  // namespace spillway::test
