#include "plan/search/block_shape.hpp"

#include <algorithm>
#include <numeric>

#include "base/math.hpp"
#include "plan/schedule/reach.hpp"

namespace spillway {

namespace {

// Of a chunk's update, and of all: finer ones tell no more.
constexpr std::int64_t kMostParts = 8, kAllParts = 192;

}  // namespace

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
  add(gradient, places.gradients, own(chunk.gradient.bytes));
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

BlockShape::BlockShape(BlockModel const& model, Plan const& plan, bool several, Grain grain)
    : m_model(model),
      m_plan(plan),
      m_several(several),
      m_blocks(static_cast<int>(model.blocks.size())),
      m_halves(grain == Grain::fine ? 2 : 1) {
  m_away.reserve(model.blocks.size());
  for (std::size_t b = 0; b < model.blocks.size(); ++b)
    m_away.push_back(spillway::away_bytes(model, plan, b));
  note_visits();
  if (grain == Grain::whole) return;
  if (!plan.redo) note_early();
  divide_updates();
}

void BlockShape::note_visits() {
  for (int c = 0; c < std::ssize(m_model.chunks); ++c) {
    if (!is_fetched(c)) continue;
    for_each_visit(chunk(c).readers, m_plan.prefetch, [&](Visit const& visit) {
      m_fetches.push_back({visit.first, c});
      m_drops.push_back({visit.last, c});
    });
  }
  std::ranges::stable_sort(m_fetches, {}, &At::at);
  std::ranges::stable_sort(m_drops, {}, &At::at);
}

void BlockShape::note_early() {
  for (int const c : chunks()) {
    int const group = m_blocks - 1 - chunk(c).first_block;
    m_early.push_back({std::min(group + groups_until_updated(exchanges()), m_blocks), c});
  }
  std::ranges::stable_sort(m_early, {}, &At::at);
}

void BlockShape::divide_updates() {
  auto const most = std::clamp<std::int64_t>(kAllParts / std::ssize(m_model.chunks), 1, kMostParts);
  m_work.reserve(m_model.chunks.size());
  for (int c = 0; c < std::ssize(m_model.chunks); ++c) {
    auto& work = m_work.emplace_back(brought(chunk(c), places(c), m_plan.unified));
    if (!work.uses_slots()) continue;
    auto const slices = div_ceil(chunk(c).elements, slice_elements(chunk(c), m_plan));
    work.parts = std::clamp<std::int64_t>(slices, 1, most);
    bool const exact = slices <= work.parts;  // else a part is many slices
    work.ahead = exact ? kSlicesAhead : 1;
    work.slots = exact ? kUpdateSlots : 2;
  }
  if (m_plan.redo) std::ranges::for_each(chunks(), [&](int c) { add_pieces(c); });
  for (At const& early : m_early) add_pieces(early.chunk);
}

void BlockShape::add_pieces(int chunk) {
  for (std::int64_t i = 0; i < work(chunk).parts; ++i)
    m_pieces.push_back({chunk, work(chunk).uses_slots() ? m_slots++ : -1});
}

}  // namespace spillway
