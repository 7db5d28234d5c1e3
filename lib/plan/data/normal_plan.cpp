#include "plan/data/normal_plan.hpp"

#include <algorithm>

namespace spillway {

namespace {

BlockPlan normal(Block const& block, bool is_last_layer, BlockPlan plan) {
  if (!block.layer) return {};
  if (is_last_layer) return staying(plan);
  if (!away_tier(plan.policy)) plan.fraction = 1;
  return plan;
}

}  // namespace

void normalise(Graph const& graph, Plan& plan) {
  bool is_last_layer = true;
  for (auto b = graph.blocks.size(); b-- > 0;) {
    plan.blocks[b] = normal(graph.blocks[b], is_last_layer, plan.blocks[b]);
    is_last_layer = is_last_layer && !graph.blocks[b].layer;
  }
}

bool is_normal(Graph const& graph, Plan const& plan) {
  auto same = plan;
  normalise(graph, same);
  return same.blocks == plan.blocks;
}

}  // namespace spillway
