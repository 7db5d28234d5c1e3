// RandomLayers appends the layers of which random graphs consist.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "graph/attention.hpp"
#include "graph/build.hpp"
#include "tests/support/random_graph.hpp"

namespace spillway::test {

// Holds the activations of one stack. The last value is the stream, which the next layer reads and
// adds to or replaces. Later layers may also read earlier values again.
struct Activations {
  std::string name;
  Stack stack;
  View documents = {};            // if absent, attention sees all rows of a sequence
  std::vector<View> values = {};  // each is [micro * sequence, hidden]
};

// The functions that take a stack append ops to it. Each reads the stack's last value, so that no
// op's result is left unused.
class RandomLayers {
 public:
  RandomLayers(Graph& graph, Random& draws, RandomGraphOptions const& options);

  GraphBuilder& builder() { return m_builder; }
  bool chance(int percent) { return below(m_draws, 100) < percent; }
  int between(Between const& range) {
    return range.least + below(m_draws, range.most - range.least + 1);
  }
  bool has_trainable() const;

  Activations stack(int number, std::string const& name);
  // Adds the batch tensors of all stacks. Only the last stack has targets.
  void add_batch(std::vector<Activations>& stacks);
  // Parameters that are added from now on go to chunks of a new block.
  void open_block() { m_chunks = {-1, -1}; }
  // Says whether all parameters that are added from now on are frozen.
  void set_frozen(bool frozen) { m_frozen = frozen; }

  View embed(Activations const& stack);
  void self_attention(Activations& stack);
  void cross_attention(Activations& stack, Activations& other);
  void feed_forward(Activations& stack);
  void product_of_earlier(Activations& stack);
  void add_earlier(Activations& stack);
  void embed_again(Activations& stack);
  void loss(Activations const& stack);

 private:
  Random& m_draws;
  RandomGraphOptions m_options;
  Graph& m_graph;
  GraphBuilder m_builder;
  std::int64_t m_hidden, m_micro, m_vocab;
  bool m_drops, m_frozen = false;
  DType m_dtype;
  // The open block's chunk of frozen parameters and its chunk of trainable ones; -1 if there is
  // none.
  std::array<int, 2> m_chunks = {-1, -1};
  std::map<Shape, std::vector<View>> m_made;
  std::map<Shape, View> m_biases;
  int m_names = 0;

  std::string unique(std::string const& what) { return what + std::to_string(m_names++); }
  View whole_tensor(TensorId id) const;
  View batch(BatchField field, int stack) const;
  View parameter(Shape const& shape, Init init);
  int open_chunk(bool trainable);
  View activation(std::string const& name, std::int64_t rows, std::int64_t columns);
  View earlier(Activations const& stack);
  View norm(Activations& stack, View const& x);
  View rmsnorm(View const& x, std::int64_t columns);
  View layernorm(View const& x);
  View product(View const& x, std::int64_t n, View const& addend);
  View product_of_fused(View const& x, std::vector<std::int64_t> const& rows);
  View rope(Activations const& stack, View const& x, std::int64_t heads, std::int64_t head_size);
  Activation smooth_form();
  View bend(View const& x);
  View gated(View const& x);
  View mlp(Activations const& stack, View const& x, View const& addend);
  View dropout(Activations const& stack, View const& x);
  View sum(View const& a, View const& b);
  View distance_bias(AttentionAttributes const& attributes);
  View attend(std::array<View, 3> const& qkv, AttentionAttributes attributes,
              std::array<View, 2> const& segments);
  AttentionAttributes heads(Activations const& stack, Activations const& other);
  void join(Activations& stack, View const& branch, bool adds);
};

}  // namespace spillway::test
