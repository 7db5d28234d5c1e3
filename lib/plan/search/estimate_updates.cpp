#include "plan/search/estimate_updates.hpp"

#include <algorithm>

#include "base/math.hpp"

namespace spillway {

namespace {

// Of a chunk's update, and of all: finer ones tell no more.
constexpr std::int64_t kMostParts = 8, kAllParts = 192;

}  // namespace

EstimateUpdates::EstimateUpdates(BlockModel const& model, Plan const& plan, EstimateJobs& jobs)
    : m_model(model),
      m_plan(plan),
      m_jobs(jobs),
      m_chunks(model.blocks.size() + 1),
      m_brought{Waits{}, Waits{}, Waits{}},
      m_updated(model.chunks.size(), -1),
      m_gradient(model.chunks.size(), -1) {
  auto const chunks = std::ssize(model.chunks);
  auto const most = std::clamp<std::int64_t>(kAllParts / chunks, 1, kMostParts);
  for (int c = 0; c < chunks; ++c) {
    auto const needs = spillway::brought(cost(c), places(c), plan.unified);
    auto const slices = div_ceil(cost(c).elements, slice_elements(cost(c), plan));
    auto const parts = needs.all_bytes() > 0 ? std::clamp<std::int64_t>(slices, 1, most) : 1;
    bool const exact = needs.all_bytes() == 0 || slices <= parts;  // else a part is many slices
    m_work.push_back({needs, parts, exact ? kSlicesAhead : 1, exact ? kUpdateSlots : 2});
    if (!cost(c).trainable) continue;
    // Sums over ranks are complete one block later.
    int const after = cost(c).first_block + (cost(c).reduce_sent_bytes > 0 ? 0 : 1);
    m_chunks[static_cast<std::size_t>(after)].push_back(c);
  }
  for (auto b = m_chunks.size(); !plan.redo && b-- > 0;) {
    for (int const c : m_chunks[b]) add_pieces(c);
  }
  for (int c = 0; plan.redo && c < chunks; ++c) add_pieces(c);
}

ChunkCost const& EstimateUpdates::cost(int chunk) const {
  return m_model.chunks[static_cast<std::size_t>(chunk)];
}

ChunkPlan const& EstimateUpdates::places(int chunk) const {
  return m_plan.chunks[static_cast<std::size_t>(chunk)];
}

void EstimateUpdates::add_pieces(int chunk) {
  if (!cost(chunk).trainable) return;
  bool const passes = work(chunk).needs.all_bytes() > 0;
  for (std::int64_t i = 0; i < work(chunk).parts; ++i)
    m_pieces.push_back({chunk, passes ? m_slots++ : -1});
}

void EstimateUpdates::begin_step() {
  m_next = m_complete = m_away_begun = m_begun = 0;
  ++m_steps;
}

void EstimateUpdates::after_backward(int block, int now) {
  if (m_plan.redo) return;
  if (block + 1 == std::ssize(m_model.blocks)) bring_ahead(now);  // it tells the loss
  update_group(m_chunks[static_cast<std::size_t>(block) + 1], now);
}

void EstimateUpdates::update_group(std::vector<int> const& chunks, int now) {
  for (int const c : chunks) update(c, norm(c), now);
}

// A commit, or a report, knows all norms.
void EstimateUpdates::after_all(int now) {
  auto const with_norms = [&] { return m_jobs.add(Lane::comm, {}, {m_norms[0], m_norms[1]}); };
  if (!m_plan.redo) {
    update_group(m_chunks.front(), now);
    m_reported = with_norms();
    return;
  }
  m_complete = static_cast<int>(m_pieces.size());
  bring_ahead(now);
  for (int c = 0; c < std::ssize(m_work); ++c) norm(c);
  m_reported = with_norms();
  for (int c = 0; c < std::ssize(m_work); ++c) update(c, m_reported, now);
}

int EstimateUpdates::norm(int chunk) {
  if (!cost(chunk).trainable) return -1;
  bool const host = places(chunk).gradients == Tier::host;
  return m_norms[host ? 1 : 0] = m_jobs.add(host ? Lane::host : Lane::compute,
                                            host ? cost(chunk).host_norm : cost(chunk).norm,
                                            {m_gradient[static_cast<std::size_t>(chunk)]});
}

// Gradients when they are whole, with what lies where they do.
bool EstimateUpdates::is_late(Work const& work, ChunkPlan const& places, Tier tier) const {
  return tier == Tier::device || (tier == places.gradients && tier != work.needs.workplace);
}

void EstimateUpdates::bring_ahead(int now) {
  if (m_next == std::ssize(m_pieces)) return;
  int const last =
      std::min(m_next + work(piece(m_next).chunk).ahead + 1, static_cast<int>(m_pieces.size()));
  for (; m_away_begun < last; ++m_away_begun) {
    brought(m_away_begun) = {};
    bring(m_away_begun, false, now);
  }
  for (; m_begun < std::min(last, m_complete); ++m_begun) bring(m_begun, true, now);
}

void EstimateUpdates::bring(int number, bool late, int now) {
  int const chunk = piece(number).chunk;
  auto const& [needs, parts, ahead, slots] = work(chunk);
  int const after = late ? m_gradient[static_cast<std::size_t>(chunk)] : now;
  for (Tier const tier : kTiersInOrder) {
    auto const bytes = needs.bytes[index(tier)] / parts;
    if (bytes == 0 || is_late(work(chunk), places(chunk), tier) != late) continue;
    brought(number).push_back(
        m_jobs.copy(tier, needs.workplace, bytes, {slot_free(piece(number)), after}));
  }
}

void EstimateUpdates::update(int chunk, int after, int now) {
  if (!cost(chunk).trainable) return;
  int const end = m_next + static_cast<int>(work(chunk).parts);
  m_complete = std::max(m_complete, end);
  for (; m_next < end; ++m_next) {
    bring_ahead(now);
    run(piece(m_next), after, brought(m_next));
  }
  auto& updated = m_updated[static_cast<std::size_t>(chunk)];
  updated = m_jobs.send(cost(chunk).update_sent_bytes, updated);
}

void EstimateUpdates::run(Piece const& piece, int after, Waits waits) {
  auto const& [needs, parts, ahead, slots] = work(piece.chunk);
  bool const host = places(piece.chunk).update == Tier::host;
  auto const& whole = host ? cost(piece.chunk).host_update : cost(piece.chunk).update;
  waits.push_back(after);
  int freed = m_jobs.add(host ? Lane::host : Lane::compute, divided(whole, parts), waits);
  auto& updated = m_updated[static_cast<std::size_t>(piece.chunk)];
  int const changed = updated = freed;
  for (Tier const tier : kTiersInOrder) {
    auto const bytes = needs.back_bytes[index(tier)] / parts;
    if (bytes == 0) continue;
    freed = m_jobs.copy(needs.workplace, tier, bytes, {changed});
    if (tier == places(piece.chunk).parameters) updated = freed;
  }
  if (piece.slot >= 0) m_freed.push_back(freed);
}

int EstimateUpdates::slot_free(Piece const& piece) const {
  auto const before = (m_steps - 1) * m_slots + piece.slot - work(piece.chunk).slots;
  auto const last = std::min<std::ptrdiff_t>(before, std::ssize(m_freed) - 1);
  return last < 0 ? -1 : m_freed[static_cast<std::size_t>(last)];
}

}  // namespace spillway
