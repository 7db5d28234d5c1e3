#include <fmt/core.h>

#include <algorithm>
#include <stdexcept>

#include "base/math.hpp"
#include "base/units.hpp"
#include "plan/passes.hpp"
#include "plan/plan_request.hpp"

namespace spillway {

namespace {

std::string const& entry(std::vector<std::string> const& list, std::size_t i) {
  return i < list.size() ? list[i] : list.back();
}

void refuse_length(std::vector<std::string> const& list, char const* key, std::size_t most,
                   char const* what) {
  if (list.empty()) throw std::invalid_argument(fmt::format("plan.{}: an empty list", key));
  if (list.size() <= most) return;
  throw std::invalid_argument(
      fmt::format("plan.{}: a list of {} for {} {}", key, list.size(), most, what));
}

// "nvme", or "nvme:0.5" for half of the rows.
BlockPlan block_plan(std::string const& text) {
  auto const colon = text.find(':');
  auto const policy = block_policy(text.substr(0, colon));
  if (colon == std::string::npos) return {policy, 1};
  auto const fraction = parse_fraction(std::string_view(text).substr(colon + 1));
  if (!fraction)
    throw std::invalid_argument("'" + text + "' does not end with a fraction between 0 and 1");
  return {policy, *fraction};
}

// One of the keys that give a place per chunk.
struct PlaceKey {
  char const* name;
  std::vector<std::string> PlanRequest::*words;
  Tier ChunkPlan::*place;
};
constexpr PlaceKey kPlaceKeys[] = {
    {"parameters", &PlanRequest::parameters, &ChunkPlan::parameters},
    {"gradients", &PlanRequest::gradients, &ChunkPlan::gradients},
    {"optimizer", &PlanRequest::optimizer, &ChunkPlan::optimizer},
    {"update", &PlanRequest::update, &ChunkPlan::update},
};

Tier place_of(std::string const& text, Tier automatic) {
  if (text == "auto") return automatic;
  for (Tier const tier : kTiersInOrder) {
    if (text == name(tier)) return tier;
  }
  throw std::invalid_argument("'" + text + "' is none of auto, device, host, nvme");
}

ChunkPlan chunk_plan(PlanRequest const& request, std::size_t chunk) {
  ChunkPlan plan;
  for (PlaceKey const& key : kPlaceKeys) {
    // The update comes last: where it is best done follows from where the state lies.
    bool const away = key.place == &ChunkPlan::update && plan.optimizer != Tier::device;
    plan.*key.place = place_of(entry(request.*key.words, chunk), away ? Tier::host : Tier::device);
  }
  return plan;
}

BlockPlan layer_plan(std::string const& text, BlockPolicy automatic) {
  return text == "auto" ? BlockPlan{automatic, 1} : block_plan(text);
}

// Between 4 and 20 slices for the largest chunk, about 1024 for all (more take longer to plan), in
// whole pieces of the spill file's checksums.
std::int64_t update_slice(Graph const& graph) {
  // 512 Ki elements are whole pieces of 1 MiB in any dtype of state.
  constexpr std::int64_t unit = std::int64_t{512} << 10, usual = std::int64_t{4} << 20;
  std::int64_t largest = 1, all = 0;
  for (Chunk const& chunk : graph.chunks) {
    largest = std::max(largest, chunk.elements);
    all += chunk.elements;
  }
  auto const part = [&](std::int64_t elements, std::int64_t parts) {
    return round_up(div_ceil(elements, parts), unit);
  };
  auto const most = part(largest, 4), least = std::max(part(largest, 20), part(all, 1024));
  return std::clamp(usual, std::min(least, most), most);
}

}  // namespace

Plan make_plan(Graph const& graph, PlanRequest const& request, BlockPolicy automatic) {
  auto const layers = std::ranges::count_if(graph.blocks, &Block::layer);
  refuse_length(request.activations, "activations", static_cast<std::size_t>(layers), "layers");
  for (PlaceKey const& key : kPlaceKeys)
    refuse_length(request.*key.words, key.name, graph.chunks.size(), "chunks");
  Plan plan;
  plan.prefetch = request.prefetch.value_or(kShortestPrefetch);
  plan.update_slice = update_slice(graph);
  std::size_t layer = 0;
  for (Block const& block : graph.blocks) {
    plan.blocks.push_back(block.layer ? layer_plan(entry(request.activations, layer++), automatic)
                                      : BlockPlan{});
  }
  for (std::size_t chunk = 0; chunk < graph.chunks.size(); ++chunk)
    plan.chunks.push_back(chunk_plan(request, chunk));
  auto const on_host = [](ChunkPlan const& chunk) { return chunk.update == Tier::host; };
  plan.redo = request.norm_is_awaited || std::ranges::none_of(plan.chunks, on_host);
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
    text += fmt::format("  - {:<11} # {}\n", policy, graph.blocks[i].name);
  }
  for (PlaceKey const& key : kPlaceKeys) {
    text += fmt::format("{}:\n", key.name);
    for (std::size_t i = 0; i < graph.chunks.size(); ++i) {
      text +=
          fmt::format("  - {:<11} # {}\n", name(plan.chunks[i].*key.place), graph.chunks[i].name);
    }
  }
  return text + fmt::format("prefetch: {}\n", plan.prefetch);
}

}  // namespace spillway
