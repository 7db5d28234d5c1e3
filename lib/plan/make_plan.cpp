#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include "plan/solve.hpp"

namespace spillway {

namespace {

std::string const& entry(std::vector<std::string> const& list, std::size_t i) {
  return i < list.size() ? list[i] : list.back();
}

void refuse_longer(std::vector<std::string> const& list, char const* key, std::size_t most,
                   char const* what) {
  if (list.size() <= most) return;
  throw std::invalid_argument(
      fmt::format("plan.{}: a list of {} for {} {}", key, list.size(), most, what));
}

// "nvme", or "nvme:0.5" for half of the rows.
BlockPlan block_plan(std::string const& text) {
  auto const colon = text.find(':');
  BlockPlan plan{block_policy(text.substr(0, colon)), 1};
  if (colon == std::string::npos) return plan;
  auto const* const end = text.data() + text.size();
  auto const [stop, error] = std::from_chars(text.data() + colon + 1, end, plan.fraction);
  if (error != std::errc{} || stop != end || !(plan.fraction >= 0 && plan.fraction <= 1)) {
    throw std::invalid_argument("'" + text + "' does not end with a fraction between 0 and 1");
  }
  return plan;
}

Tier update_place(std::string const& text) {
  if (text == "device" || text == "auto") return Tier::device;
  if (text == "host") return Tier::host;
  throw std::invalid_argument("'" + text + "' is none of auto, device, host");
}

}  // namespace

Plan make_plan(Graph const& graph, std::vector<std::string> const& activations,
               std::vector<std::string> const& update, int prefetch, BlockPolicy automatic) {
  if (activations.empty() || update.empty()) throw std::invalid_argument("an empty list of places");
  auto const layers = std::ranges::count_if(graph.blocks, &Block::layer);
  refuse_longer(activations, "activations", static_cast<std::size_t>(layers), "layers");
  refuse_longer(update, "update", graph.chunks.size(), "chunks");
  Plan plan;
  plan.prefetch = prefetch;
  std::size_t layer = 0;
  for (Block const& block : graph.blocks) {
    BlockPlan& entry_plan = plan.blocks.emplace_back();
    if (!block.layer) continue;
    auto const& text = entry(activations, layer++);
    entry_plan = text == "auto" ? BlockPlan{automatic, 1} : block_plan(text);
  }
  for (std::size_t chunk = 0; chunk < graph.chunks.size(); ++chunk) {
    plan.chunks.emplace_back().update = update_place(entry(update, chunk));
  }
  return plan;
}

// The keys are those of the input file's `plan` section, so the file is read by the same code.
std::string to_yaml(Plan const& plan, Graph const& graph) {
  std::string text = "activations:\n";
  for (std::size_t i = 0; i < graph.blocks.size(); ++i) {
    if (!graph.blocks[i].layer) continue;
    BlockPlan const& block = plan.blocks[i];
    auto policy = std::string(name(block.policy));
    if (block.fraction != 1) policy += fmt::format(":{}", block.fraction);
    text += fmt::format("  - {:<12}# {}\n", policy, graph.blocks[i].name);
  }
  text += "update:\n";
  for (std::size_t i = 0; i < graph.chunks.size(); ++i) {
    text += fmt::format("  - {:<12}# {}\n", name(plan.chunks[i].update), graph.chunks[i].name);
  }
  return text + fmt::format("prefetch: {}\n", plan.prefetch);
}

}  // namespace spillway
