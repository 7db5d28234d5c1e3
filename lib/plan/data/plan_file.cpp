#include "plan/data/plan_file.hpp"

#include <fmt/core.h>

namespace spillway {

std::string to_yaml(Plan const& plan, Graph const& graph) {
  std::string text = "activations:\n";
  for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
    if (!graph.blocks[i].layer) continue;
    text += fmt::format("  - {:<11} # {}\n", to_text(plan.blocks[i]), graph.blocks[i].name);
  }
  for (PlaceRow const& row : kPlaceTable) {
    text += fmt::format("{}:\n", row.name);
    for (std::size_t i = 0; i < graph.chunks.size(); ++i)
      text +=
          fmt::format("  - {:<11} # {}\n", name(plan.chunks[i].*row.place), graph.chunks[i].name);
  }
  return text + fmt::format("prefetch: {}\n", plan.prefetch);
}

}  // namespace spillway
