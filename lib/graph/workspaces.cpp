#include <fmt/core.h>

#include "base/checked.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "graph/build.hpp"

namespace spillway {

void size_workspaces(Graph& graph,
                     std::function<std::int64_t(Graph const&, Op const&)> const& bytes) {
  for (auto& op : graph.ops) {
    op.workspace_bytes = bytes(graph, op);
    if (op.workspace_bytes < 0 || op.workspace_bytes > kMostBytes)
      throw Error(Status::bad_input,
                  fmt::format("model: {} needs a workspace of more than {}, which no machine has",
                              op.name, human_bytes(kMostBytes)));
  }
}

}  // namespace spillway
