#include "graph/build.hpp"

namespace spillway {

void size_workspaces(Graph& graph,
                     std::function<std::int64_t(Graph const&, Op const&)> const& bytes) {
  for (auto& op : graph.ops) op.workspace_bytes = bytes(graph, op);
}

}  // namespace spillway
