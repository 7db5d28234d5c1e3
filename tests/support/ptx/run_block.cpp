#include "tests/support/ptx/run_block.hpp"

#include <algorithm>

#include "tests/support/ptx/barriers.hpp"
#include "tests/support/ptx/run_warp.hpp"
#include "tests/support/ptx/specials.hpp"

namespace spillway::test::ptx {
namespace {

constexpr std::uint64_t kMostTurn = 500;  // bounds the instructions of a turn
// Of so many turns, one begins with any lanes of the warp, and all others with the lowest.
constexpr int kTurnsOfLowest = 8;
constexpr auto kNeverWritten = std::byte{0x7f};

bool has_clocks(Code const& code) {
  return std::ranges::any_of(code.specials, [](SpecialRegister const& special) {
    return special.name.starts_with("%clock") || special.name == "%globaltimer";
  });
}

}  // namespace

BlockRun::BlockRun(Run& run)
    : m_run(run),
      m_block{run},
      m_random(run.settings.seed),
      m_threads(static_cast<unsigned>(run.settings.block.count())),
      m_has_clocks(has_clocks(run.code)) {
  auto const slots = run.code.slots;
  m_block.warps.resize((m_threads + kLanes - 1) / kLanes);
  m_lines.resize(slots * m_block.warps.size());
  m_known.resize(m_lines.size());
  for (std::size_t i = 0; i < m_block.warps.size(); ++i) {
    auto& warp = m_block.warps[i];
    warp.block = &m_block;
    warp.frame = m_lines[i * slots].bytes;
    warp.known = &m_known[i * slots];
    warp.first_thread = static_cast<unsigned>(i) * kLanes;
    fill_constants(warp);
    set_specials(warp, Changes::never);
  }
}

void BlockRun::run(std::uint64_t number) {
  begin(number);
  m_ready.clear();
  for (auto& warp : m_block.warps) m_ready.push_back(&warp);
  run_turns();
  need_no_waiting(m_block);
}

void BlockRun::fill_constants(Warp const& warp) const {
  std::ranges::fill_n(warp.lanes<std::uint32_t>(kOnes), kLanes, kAllLanes);
  for (auto const& [slot, bytes, value] : m_run.code.constants)
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (bytes == 0) warp.predicate(slot) = value != 0 ? kAllLanes : 0;
      if (bytes == 2) warp.lanes<std::uint16_t>(slot)[lane] = static_cast<std::uint16_t>(value);
      if (bytes == 4) warp.lanes<std::uint32_t>(slot)[lane] = static_cast<std::uint32_t>(value);
      if (bytes == 8) warp.lanes<std::uint64_t>(slot)[lane] = value;
    }
}

void BlockRun::begin(std::uint64_t number) {
  auto const& code = m_run.code;
  auto const& grid = m_run.settings.grid;
  m_block.at = {static_cast<unsigned>(number % grid.x),
                static_cast<unsigned>(number / grid.x % grid.y),
                static_cast<unsigned>(number / grid.x / grid.y)};
  m_block.shared.assign(code.shared_bytes + m_run.settings.dynamic_shared_bytes, kNeverWritten);
  m_block.shared_states.assign(m_block.shared.size(), kUnknown);
  m_block.local.assign(code.local_bytes * m_threads, kNeverWritten);
  m_block.local_states.assign(m_block.local.size(), kUnknown);
  std::ranges::fill(m_known, 0u);
  begin_epochs(m_block);
  m_run.begun.push_back({m_block.first_epoch, number});
  for (auto& warp : m_block.warps) begin_warp(warp);
}

void BlockRun::begin_warp(Warp& warp) const {
  auto const here = std::min(kLanes, m_threads - warp.first_thread);
  warp.begun = warp.alive = kAllLanes >> (kLanes - here);
  warp.groups.assign(1, {0, warp.alive, false});
  for (auto& copies : warp.copies) copies.clear();
  warp.copy_group = {};
  warp.known[kZeros] = warp.known[kOnes] = kAllLanes;
  for (auto const& constant : m_run.code.constants) warp.known[constant.slot] = kAllLanes;
  for (auto const& special : m_run.code.specials) warp.known[special.slot] = kAllLanes;
  set_specials(warp, Changes::by_block);
}

// A warp that waits leaves m_ready, and comes back together with those for which it has waited.
void BlockRun::run_turns() {
  while (!m_ready.empty()) {
    auto const picked = m_random() % m_ready.size();
    auto& warp = *m_ready[picked];
    auto const choice = m_random() % kTurnsOfLowest == 0 ? Choice::any : Choice::lowest;
    if (m_has_clocks) set_specials(warp, Changes::by_turn);
    ++m_run.counts.turns;
    run_turn(warp, 1 + m_random() % kMostTurn, choice, m_random());
    if (m_run.counts.warp_instructions > m_run.settings.most_warp_instructions)
      complain(warp, first_lane(warp.begun), "the launch runs for ever");
    if (!warp.groups.empty() && !warp.at_barrier) continue;
    m_ready[picked] = m_ready.back();
    m_ready.pop_back();
    if (warp.at_barrier && pass_with(m_block, warp)) add_ready();
  }
}

void BlockRun::add_ready() {
  for (auto& warp : m_block.warps) {
    bool const is_ready = !warp.groups.empty() && !warp.at_barrier;
    if (is_ready && std::ranges::find(m_ready, &warp) == m_ready.end()) m_ready.push_back(&warp);
  }
}

}  // namespace spillway::test::ptx
