// Blocks run one after the other, the warps of a block by turns.
#include "tests/support/ptx/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>

#include "base/permutation.hpp"
#include "tests/support/ptx/run_warp.hpp"
#include "tests/support/ptx/specials.hpp"
#include "tests/support/ptx/warp.hpp"

namespace spillway::test::ptx {
namespace {

constexpr std::size_t kMostSharedBytes = 228 * 1024;  // of sm_90, with what is reserved
constexpr std::uint64_t kMostTurn = 500;              // instructions
constexpr int kTurnsOfLowest = 8;                     // of so many turns, one begins with any lanes
constexpr auto kNeverWritten = std::byte{0x7f};

void need(bool holds, Code const& code, std::string const& why) {
  if (!holds) throw std::invalid_argument(fmt::format("kernel {}: {}", code.kernel->name, why));
}

void check(Code const& code, LaunchSettings const& settings) {
  auto const& [grid, block] = std::pair{settings.grid, settings.block};
  need(grid.count() > 0 && grid.x < 1u << 31 && grid.y < 1u << 16 && grid.z < 1u << 16, code,
       "a grid cannot be as large");
  need(block.count() > 0 && block.count() <= code.kernel->most_threads && block.z <= 64, code,
       fmt::format("a block of {} threads, of {} at most", block.count(),
                   code.kernel->most_threads));
  need(settings.parameters.size() == code.kernel->parameter_bytes, code,
       fmt::format("{} bytes of parameters, and it has {}", settings.parameters.size(),
                   code.kernel->parameter_bytes));
  need(code.shared_bytes + settings.dynamic_shared_bytes <= kMostSharedBytes, code,
       "a block has no more shared memory");
}

bool has_clocks(Code const& code) {
  return std::ranges::any_of(code.specials, [](SpecialRegister const& special) {
    return special.name.starts_with("%clock") || special.name == "%globaltimer";
  });
}

struct alignas(kSlotBytes) Line {
  std::byte bytes[kSlotBytes];
};

class Launch {
 public:
  Launch(Code const& code, Memory const& memory, LaunchSettings const& settings)
      : m_run{code, memory, settings},
        m_block{m_run},
        m_random(settings.seed),
        m_threads(static_cast<unsigned>(settings.block.count())),
        m_warps((m_threads + kLanes - 1) / kLanes),
        m_lines(std::size_t{code.slots} * m_warps.size(), Line{}),
        m_known(m_lines.size()),
        m_has_clocks(has_clocks(code)) {
    for (std::size_t i = 0; i < m_warps.size(); ++i) {
      auto& warp = m_warps[i];
      warp.block = &m_block;
      warp.frame = m_lines[i * code.slots].bytes;
      warp.known = &m_known[i * code.slots];
      warp.first_thread = static_cast<unsigned>(i) * kLanes;
      fill_constants(warp);
      set_specials(warp, Changes::never);
    }
  }

  LaunchCounts run() {
    auto const& grid = m_run.settings.grid;
    auto const count = static_cast<std::int64_t>(grid.count());
    Permutation const order(count, m_run.settings.seed, 0);
    for (std::int64_t i = 0; i < count; ++i) {
      auto const number = static_cast<std::uint64_t>(order(i));
      m_block.at = {static_cast<unsigned>(number % grid.x),
                    static_cast<unsigned>(number / grid.x % grid.y),
                    static_cast<unsigned>(number / grid.x / grid.y)};
      begin_block(number);
      run_block();
    }
    check_outputs();
    return m_run.counts;
  }

 private:
  void fill_constants(Warp const& warp) const {
    std::ranges::fill_n(warp.lanes<std::uint32_t>(kOnes), kLanes, kAllLanes);
    for (auto const& [slot, bytes, value] : m_run.code.constants)
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        if (bytes == 0) warp.predicate(slot) = value != 0 ? kAllLanes : 0;
        if (bytes == 2) warp.lanes<std::uint16_t>(slot)[lane] = static_cast<std::uint16_t>(value);
        if (bytes == 4) warp.lanes<std::uint32_t>(slot)[lane] = static_cast<std::uint32_t>(value);
        if (bytes == 8) warp.lanes<std::uint64_t>(slot)[lane] = value;
      }
  }

  void begin_block(std::uint64_t number) {
    auto const& code = m_run.code;
    m_block.first_epoch = ++m_run.epoch;
    m_run.begun.push_back({m_run.epoch, number});
    m_block.shared.assign(code.shared_bytes + m_run.settings.dynamic_shared_bytes, kNeverWritten);
    m_block.shared_states.assign(m_block.shared.size(), kUnknown);
    m_block.local.assign(code.local_bytes * m_threads, kNeverWritten);
    m_block.local_states.assign(m_block.local.size(), kUnknown);
    std::ranges::fill(m_known, 0u);
    for (auto& warp : m_warps) begin_warp(warp);
  }

  void begin_warp(Warp& warp) const {
    auto const here = std::min(kLanes, m_threads - warp.first_thread);
    warp.begun = warp.alive = kAllLanes >> (kLanes - here);
    warp.groups.assign(1, {0, warp.alive, false});
    begin_epoch(warp);
    for (auto& copies : warp.copies) copies.clear();
    warp.copy_group = {};
    warp.known[kZeros] = warp.known[kOnes] = kAllLanes;
    for (auto const& constant : m_run.code.constants) warp.known[constant.slot] = kAllLanes;
    for (auto const& special : m_run.code.specials) warp.known[special.slot] = kAllLanes;
    set_specials(warp, Changes::by_block);
  }

  void run_block() {
    m_ready.clear();
    for (auto& warp : m_warps) m_ready.push_back(&warp);
    while (!m_ready.empty()) {
      auto const picked = m_random() % m_ready.size();
      auto& warp = *m_ready[picked];
      auto const choice = m_random() % kTurnsOfLowest == 0 ? Choice::any : Choice::lowest;
      if (m_has_clocks) set_specials(warp, Changes::by_turn);
      run_turn(warp, 1 + m_random() % kMostTurn, choice, m_random());
      if (m_run.counts.warp_instructions > m_run.settings.most_warp_instructions)
        complain(warp, first_lane(warp.begun), "the launch runs for ever");
      if (!warp.groups.empty() && !warp.at_barrier) continue;
      m_ready[picked] = m_ready.back();
      m_ready.pop_back();
      if (m_ready.empty()) pass_barrier();
    }
  }

  // All warps have ended, or wait. If any waits, all must, and at one barrier.
  void pass_barrier() {
    auto const waiting = std::ranges::find_if(m_warps, &Warp::at_barrier);
    if (waiting == m_warps.end()) return;
    for (auto const& warp : m_warps) {
      if (!warp.at_barrier)
        complain(
            *waiting, 0,
            fmt::format("waits at a barrier, and warp {} has ended", warp.first_thread / kLanes));
      if (warp.barrier != waiting->barrier)
        complain(warp, 0,
                 fmt::format("waits at barrier {}, and warp {} at barrier {}", warp.barrier,
                             waiting->first_thread / kLanes, waiting->barrier));
    }
    ++m_run.epoch;
    ++m_run.counts.barriers;
    for (auto& warp : m_warps) {
      begin_epoch(warp);
      m_ready.push_back(&warp);
    }
  }

  void check_outputs() const {
    for (auto const& [address, output] : m_run.unknown_outputs)
      if (std::find(output.states, output.states + output.bytes, kUnknown) !=
          output.states + output.bytes)
        throw Complaint(output.complaint);
  }

  Run m_run;
  Block m_block;
  std::mt19937_64 m_random;
  unsigned m_threads;
  std::vector<Warp> m_warps;
  std::vector<Line> m_lines;
  std::vector<Lanes> m_known;
  bool m_has_clocks;
  std::vector<Warp*> m_ready;
};

}  // namespace

LaunchCounts launch(Code const& code, Memory const& memory, LaunchSettings const& settings) {
  check(code, settings);
  return Launch(code, memory, settings).run();
}

}  // namespace spillway::test::ptx
