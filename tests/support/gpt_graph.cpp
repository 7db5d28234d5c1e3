#include "tests/support/gpt_graph.hpp"

#include "graph/build.hpp"
#include "model/model.hpp"

namespace spillway::test {

Graph gpt_graph(GptShape const& shape, Purpose purpose) {
  Config config;
  config.model.layers = shape.layers;
  config.model.hidden = shape.hidden;
  config.model.heads = shape.heads;
  config.model.dropout = shape.dropout;
  config.data.sequence = shape.sequence;
  Arithmetic arithmetic;
  arithmetic.precision = shape.precision;
  arithmetic.micro = shape.micro;
  arithmetic.sequence = shape.sequence;
  if (purpose == Purpose::generate)
    return build_generator(config, shape.vocab, arithmetic, {shape.sequence, shape.sequence});
  return build_model(config, shape.vocab, arithmetic, purpose);
}

Graph gpt_training_graph(GptShape const& shape) {
  Graph graph = gpt_graph(shape, Purpose::train);
  append_backward(graph);
  append_update(graph);
  return graph;
}

}  // namespace spillway::test
