#include "plan/search/block_shape.hpp"

#include <algorithm>
#include <cmath>

#include "base/math.hpp"

namespace spillway {

void ChunksByPlace::close(int places) {
  m_first.assign(static_cast<std::size_t>(places) + 2, 0);
  for (auto const& [place, chunk] : m_added) ++m_first[place + 2];
  for (int place = 0; place < places; ++place) m_first[place + 2] += m_first[place + 1];
  m_chunks.resize(m_added.size());
  for (auto const& [place, chunk] : m_added) m_chunks[m_first[place + 1]++] = chunk;
}

BlockShape::BlockShape(BlockModel const& model, Plan const& plan, bool several, Grain grain)
    : m_model(model),
      m_plan(plan),
      m_shared(model.shared_by(plan.sharers)),
      m_several(several),
      m_blocks(static_cast<int>(model.blocks.size())),
      m_halves(grain == Grain::fine ? 2 : 1) {
  m_away_bytes.reserve(model.blocks.size());
  for (int b = 0; b < m_blocks; ++b) {
    auto const all = static_cast<double>(policy_cost(b).away_bytes);
    m_away_bytes.push_back(static_cast<std::int64_t>(plan.blocks[b].fraction * all));
  }
  m_updates.resize(model.chunks.size());
  for (int c = 0; c < std::ssize(model.chunks); ++c) note_update(chunk(c), places(c), m_updates[c]);
  note_visits();
  note_late(grain);
  if (grain == Grain::fine) divide_updates();
}

void BlockShape::note_visits() {
  for (int c = 0; c < std::ssize(m_model.chunks); ++c) {
    if (!is_fetched(c)) continue;
    for_each_visit(chunk(c).readers, m_plan.prefetch, [&](Visit const& visit) {
      m_fetches.add(visit.first, c);
      m_drops.add(visit.last, c);
    });
  }
  m_fetches.close(2 * m_blocks);
  m_drops.close(2 * m_blocks);
}

// With redo all updates on the host are late. Without it those that are put off are, and another
// chunk is updated once its gradient is complete or, over ranks, some groups later.
void BlockShape::note_late(Grain grain) {
  m_late.assign(m_model.chunks.size(), false);
  if (m_plan.redo) {
    for (int const c : chunks()) m_late[c] = places(c).update == Tier::host;
    return;
  }
  IdVector<int> ready(m_model.chunks.size(), 0);
  for (int const c : chunks()) {
    int const group = m_blocks - 1 - chunk(c).first_block;
    ready[c] = std::min(group + groups_until_updated(exchanges()), m_blocks);
  }
  for (int const c : put_off(m_plan, chunks(), ready)) m_late[c] = true;
  if (grain == Grain::whole) return;
  for (int const c : chunks()) m_early.add(is_late(c) ? m_blocks : ready[c], c);
  m_early.close(m_blocks + 1);
}

void BlockShape::note_update(ChunkCost const& chunk, ChunkPlan const& places,
                             ChunkUpdate& update) const {
  auto const lane = update.lane = op_lane(places.update);
  update.workplace = workplace(lane, m_plan.unified);
  if (!chunk.trainable) return;
  auto const bring = [&](Operand operand, Tier tier, double share, std::int64_t whole_bytes) {
    if (reaches(lane, tier, m_plan.unified)) return;
    auto const bytes = static_cast<std::int64_t>(share * static_cast<double>(whole_bytes));
    update.brought_bytes[tier] += bytes;
    update.operand_bytes[operand] = bytes;
    if (operand != Operand::gradient) update.back_bytes[tier] += bytes;
    update.uses_slots |= bytes > 0;
  };
  bring(Operand::gradient, places.gradients, chunk.share, chunk.gradient.bytes);
  bring(Operand::parameters, slice_tier(chunk, places), chunk.share, chunk.parameter_bytes);
  bring(Operand::state, places.optimizer, 1, chunk.optimizer_bytes - chunk.parameters_beside_bytes);
  if (!update.uses_slots) return;
  auto const all =
      std::max<std::int64_t>(1, std::llround(chunk.share * static_cast<double>(chunk.elements)));
  update.slice_elements = slice_elements(all, chunk.whole_chunk, m_plan.update_slice);
  update.slices = div_ceil(all, update.slice_elements);
}

// Cuts updates into few parts: at most 8 for a chunk, and about 192 for all chunks. More parts
// would not make the estimate better.
void BlockShape::divide_updates() {
  constexpr std::int64_t most_of_chunk = 8, most_of_all = 192;
  auto const most =
      std::clamp<std::int64_t>(most_of_all / std::ssize(m_model.chunks), 1, most_of_chunk);
  for (ChunkUpdate& update : m_updates) {
    if (!update.uses_slots) continue;
    update.parts = std::clamp<std::int64_t>(update.slices, 1, most);
    if (update.slices <= update.parts) continue;
    update.ahead = 1;
    update.slots = 2;
  }
  auto const add_pieces = [&](int c) {
    for (std::int64_t i = 0; i < update(c).parts; ++i)
      m_pieces.push_back({c, update(c).uses_slots ? m_slots++ : -1});
  };
  if (m_plan.redo) std::ranges::for_each(chunks(), add_pieces);
  for (int const c : m_early.all()) add_pieces(c);
}

}  // namespace spillway
