#include "plan/memory/near_uses.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace spillway {
namespace {

constexpr ItemNumber kShort = 2 * kFar;

ItemNumber begin_of(Uses const& uses) {
  return std::min(uses.first, uses.first_stay);
}
ItemNumber end_of(Uses const& uses) {
  return std::max(uses.last, uses.last_stay);
}
bool are_short(Uses const& uses) {
  return end_of(uses) - begin_of(uses) <= kShort;
}

void find_what_repeats(Program const& program, Uses& uses) {
  uses.period = static_cast<ItemNumber>(program.items.size());
  for (int s = 0; s < std::ssize(program.segments); ++s) {
    auto const& segment = program.segments[s];
    if (!segment.is_middle() || uses.first < segment.first || uses.last >= segment.last) continue;
    uses.middle = s;
    std::tie(uses.repeats_from, uses.period) =
        std::pair(segment.first, segment.last - segment.first);
  }
}

}  // namespace

void Uses::add(Item const& item) {
  if (first < 0) std::tie(first, lane) = std::pair(item.number, item.lane);
  last = ends[item.lane] = item.number;
  only_ops &= item.lane == Lane::compute;
}

std::vector<Uses> uses_of(std::span<Movable const> buffers, Program const& program) {
  IdVector<int> numbers(program.buffers.size(), -1);
  for (int i = 0; i < std::ssize(buffers); ++i)
    numbers[buffers[static_cast<std::size_t>(i)].buffer] = i;
  std::vector<Uses> result(buffers.size());
  for (Item const& item : program.items) {
    for (auto const* accesses : {&item.reads, &item.writes})
      for (Access const& access : *accesses)
        if (auto const i = numbers[access.buffer]; i >= 0)
          result[static_cast<std::size_t>(i)].add(item);
  }
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    auto const& stays = *buffers[i].stays;
    result[i].first_stay = std::ranges::min(stays, {}, &Stay::first).first;
    result[i].last_stay = std::ranges::max(stays, {}, &Stay::last).last;
    find_what_repeats(program, result[i]);
  }
  return result;
}

NearUses::NearUses(std::vector<Uses> const& uses) : m_uses(uses) {
  for (std::size_t i = 0; i < uses.size(); ++i) {
    if (!are_short(uses[i])) {
      m_long.push_back(i);
      continue;
    }
    m_short.push_back(i);
    if (uses[i].is_early() || uses[i].is_late()) m_beyond.push_back(i);
  }
  std::ranges::sort(m_short, {}, [&](std::size_t i) { return begin_of(uses[i]); });
  for (auto const i : m_short) m_begins.push_back(begin_of(uses[i]));
}

std::vector<std::size_t> const& NearUses::of(std::size_t i) {
  auto const& uses = m_uses[i];
  auto const from = begin_of(uses) - kShort - kFar, to = end_of(uses) + kFar;
  auto const first = std::ranges::lower_bound(m_begins, from) - m_begins.begin();
  auto const last = std::ranges::upper_bound(m_begins, to) - m_begins.begin();
  m_found = m_long;
  m_found.insert(m_found.end(), m_short.begin() + first, m_short.begin() + last);
  bool const is_early = uses.is_early(), is_late = uses.is_late();
  for (auto const k : m_beyond) {
    auto const begin = begin_of(m_uses[k]);
    bool const is_found = from <= begin && begin <= to;
    bool const is_near = (is_late && m_uses[k].is_early()) || (is_early && m_uses[k].is_late());
    if (is_near && !is_found) m_found.push_back(k);
  }
  std::erase(m_found, i);
  return m_found;
}

}  // namespace spillway
