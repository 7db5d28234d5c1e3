// The layers that random graphs are made of.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "graph/attention.hpp"
#include "graph/build.hpp"
#include "support/random_graph.hpp"

namespace spillway::test {

// Activations of `micro` sequences of equal length. What was made last is the stream; the others
// may be read again.
struct Stack {
  std::string name;
  std::int64_t length = 0;
  View tokens = {};
  std::vector<View> values = {};  // [micro * length, hidden]
};

// Every step goes on from the stack's last value and reads it, so that nothing is made in vain.
class RandomLayers {
 public:
  RandomLayers(Graph& graph, Random& draws, RandomGraphOptions const& options);

  GraphBuilder& builder() { return m_builder; }
  bool chance(int percent) { return below(m_draws, 100) < percent; }
  int between(Between const& range) {
    return range.least + below(m_draws, range.most - range.least + 1);
  }
  bool has_trainable() const;

  Stack stack(std::string const& name);
  void add_batch(std::vector<Stack>& stacks);          // of which the last one has targets
  void open_block() { m_chunks = {-1, -1}; }           // parameters go to chunks of its own
  void set_frozen(bool frozen) { m_frozen = frozen; }  // from now on, all new parameters are

  View embed(Stack const& stack);
  void self_attention(Stack& stack);
  void cross_attention(Stack& stack, Stack& other);
  void feed_forward(Stack& stack);
  void product_of_earlier(Stack& stack);
  void add_earlier(Stack& stack);
  void embed_again(Stack& stack);
  void loss(Stack const& stack);

 private:
  Random& m_draws;
  RandomGraphOptions m_options;
  Graph& m_graph;
  GraphBuilder m_builder;
  std::int64_t m_hidden, m_micro, m_vocab;
  bool m_drops, m_frozen = false;
  DType m_dtype;
  std::array<int, 2> m_chunks = {-1, -1};  // of the open block: frozen, trainable
  std::map<Shape, std::vector<View>> m_made;
  int m_names = 0;

  std::string unique(std::string const& what) { return what + std::to_string(m_names++); }
  View known(TensorId id) const;
  View parameter(Shape const& shape, Init init);
  View activation(std::string const& name, std::int64_t rows, std::int64_t columns);
  View earlier(Stack const& stack);
  View norm(Stack& stack, View const& x);
  View product(View const& x, std::int64_t n, View const& addend);
  View gelu(View const& x);
  View dropout(Stack const& stack, View const& x);
  View sum(View const& a, View const& b);
  View attend(std::array<View, 3> const& qkv, AttentionAttributes const& attributes);
  AttentionAttributes heads(Stack const& stack, Stack const& other);
  void join(Stack& stack, View const& branch, bool adds);
};

}  // namespace spillway::test
