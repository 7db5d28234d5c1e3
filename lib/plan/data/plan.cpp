#include "plan/data/plan.hpp"

#include <fmt/core.h>

namespace spillway {

namespace {

constexpr char kEntry[] = "  - {:<11} # {}\n";  // a value and what it is for

BlockPlan normal(Block const& block, bool is_last_layer, BlockPlan plan) {
  if (!block.layer) return {};
  if (is_last_layer) return staying(plan);
  if (!away_tier(plan.policy)) plan.fraction = 1;
  return plan;
}

}  // namespace

bool fetches_parameters(Plan const& plan) {
  return std::ranges::any_of(
      plan.chunks, [](ChunkPlan const& chunk) { return chunk.parameters != Tier::device; });
}

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

std::string to_yaml(Plan const& plan, Graph const& graph) {
  std::string text = "activations:\n";
  for (int b = 0; Block const& block : graph.blocks) {
    BlockPlan const& planned = plan.blocks[b++];
    if (block.layer) text += fmt::format(kEntry, to_text(planned), block.name);
  }
  for (PlaceRow const& row : kPlaceTable) {
    text += fmt::format("{}:\n", row.name);
    for (Chunk const& chunk : graph.chunks)
      text += fmt::format(kEntry, name(plan.chunks[chunk.id].*row.place), chunk.name);
  }
  return text + fmt::format("prefetch: {}\ngroup: {}\n", plan.prefetch, plan.group);
}

}  // namespace spillway
