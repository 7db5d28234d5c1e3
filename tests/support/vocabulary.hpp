// What a batch may be made of, for any training graph.
#pragma once

#include <algorithm>

#include "graph/graph.hpp"

namespace spillway::test {

// Tokens and targets are below this: the words that the graph's loss knows.
inline std::int64_t vocabulary(Graph const& graph) {
  auto const head = std::ranges::find(graph.ops, OpKind::lm_head_loss, &Op::kind);
  return head == graph.ops.end() ? 0 : head->inputs[1].shape[0];
}

}  // namespace spillway::test
