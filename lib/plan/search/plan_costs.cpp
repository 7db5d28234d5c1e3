#include "plan/search/plan_costs.hpp"

#include <algorithm>
#include <numeric>

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
  bool const host = places.update == Tier::host;
  Brought result{host && !unified ? Tier::host : Tier::device};
  if (!chunk.trainable) return result;
  enum Operand : std::size_t { gradient, parameters, state };
  auto const add = [&](Operand operand, Tier tier, std::int64_t bytes) {
    bool const reaches =
        host ? tier == Tier::host || (unified && tier == Tier::device) : tier == Tier::device;
    if (reaches) return;
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

}  // namespace spillway
