#include "plan/search/block_shape.hpp"

#include <algorithm>

#include "base/math.hpp"

namespace spillway {

namespace {

// Of a chunk's update, and of all: finer ones tell no more.
constexpr std::int64_t kMostParts = 8, kAllParts = 192;

}  // namespace

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
  chunks([&](int c) {
    int const group = m_blocks - 1 - chunk(c).first_block;
    m_early.push_back({std::min(group + groups_until_updated(exchanges()), m_blocks), c});
  });
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
  if (m_plan.redo) return chunks([&](int c) { add_pieces(c); });
  for (At const& early : m_early) add_pieces(early.chunk);
}

void BlockShape::add_pieces(int chunk) {
  for (std::int64_t i = 0; i < work(chunk).parts; ++i)
    m_pieces.push_back({chunk, work(chunk).uses_slots() ? m_slots++ : -1});
}

}  // namespace spillway
