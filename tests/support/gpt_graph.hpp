// Makes graphs of GPT-2 models of any size for tests of plans.
#pragma once

#include "config/config.hpp"
#include "graph/graph.hpp"

namespace spillway::test {

struct GptShape {
  std::int64_t layers = 12, hidden = 768, heads = 12, vocab = 50257, sequence = 512, micro = 4;
  Precision precision = Precision::bf16;
  double dropout = 0;
};

Graph gpt_training_graph(GptShape const& shape);  // with backward and update ops
Graph gpt_graph(GptShape const& shape, Purpose purpose);

}  // namespace spillway::test
