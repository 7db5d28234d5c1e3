#include "plan/search/plan_costs.hpp"

#include <algorithm>
#include <numeric>

#include "plan/schedule/reach.hpp"
#include "plan/schedule/streaming.hpp"

namespace spillway {

std::int64_t away_bytes(BlockModel const& model, Plan const& plan, std::size_t block) {
  auto const& [policy, fraction] = plan.blocks[block];
  auto const& cost = model.blocks[block].policies[policy];
  return static_cast<std::int64_t>(fraction * static_cast<double>(cost.away_bytes));
}

std::int64_t slice_elements(ChunkCost const& chunk, Plan const& plan) {
  auto const all = std::max<std::int64_t>(1, chunk.elements);
  return slice_elements(all, chunk.whole_chunk, plan.update_slice);
}

std::int64_t Brought::all_bytes() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

Brought brought(ChunkCost const& chunk, ChunkPlan const& places, bool unified) {
  auto const lane = places.update == Tier::host ? Lane::host : Lane::compute;
  Brought result{workplace(lane, unified)};
  if (!chunk.trainable) return result;
  enum Operand : std::size_t { gradient, parameters, state };
  auto const add = [&](Operand operand, Tier tier, std::int64_t bytes) {
    if (reaches(lane, tier, unified)) return;
    result.bytes[tier] += bytes;
    result.operand_bytes[operand] = bytes;
    if (operand != gradient) result.back_bytes[tier] += bytes;
  };
  auto const own = [&](std::int64_t whole_bytes) {
    return static_cast<std::int64_t>(chunk.share * static_cast<double>(whole_bytes));
  };
  add(gradient, places.gradients, own(chunk.gradient_bytes));
  add(parameters, places.parameters, own(chunk.parameter_bytes));
  add(state, places.optimizer, chunk.optimizer_bytes);
  return result;
}

std::int64_t staging_bytes(BlockModel const& model, Plan const& plan) {
  bool to_drive = false, from_drive = false;
  for (std::size_t b = 0; b < plan.blocks.size(); ++b) {
    bool const spills =
        away_tier(plan.blocks[b].policy) == Tier::nvme && away_bytes(model, plan, b) > 0;
    to_drive |= spills;
    from_drive |= spills;
  }
  for (std::size_t c = 0; c < plan.chunks.size(); ++c) {
    auto const needs = brought(model.chunks[c], plan.chunks[c], plan.unified);
    bool const changes = needs.workplace == Tier::device && needs.back_bytes[Tier::nvme] > 0;
    to_drive |= changes;
    from_drive |= changes || plan.chunks[c].parameters == Tier::nvme;
  }
  auto const ways = plan.unified ? 0 : (to_drive ? 1 : 0) + (from_drive ? 1 : 0);
  return ways * kStagingSlots * plan.staging_slot_bytes;
}

}  // namespace spillway
