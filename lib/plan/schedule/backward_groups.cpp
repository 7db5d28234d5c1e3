#include "plan/schedule/backward_groups.hpp"

namespace spillway {

std::vector<BackwardGroup> backward_groups(Graph const& graph) {
  std::vector<BackwardGroup> groups;
  for (Op const& op : graph.ops) {
    if (op.phase != Phase::backward) continue;
    if (groups.empty() || groups.back().block != op.block) groups.push_back({op.block, {}});
    groups.back().ops.push_back(op.id);
  }
  return groups;
}

}  // namespace spillway
