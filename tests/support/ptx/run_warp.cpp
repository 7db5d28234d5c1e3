#include "tests/support/ptx/run_warp.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "tests/support/ptx/barriers.hpp"
#include "tests/support/ptx/groups.hpp"
#include "tests/support/ptx/meetings.hpp"

namespace spillway::test::ptx {
namespace {

// Runs one group; it ends where others may wait for it.
class GroupRun {
 public:
  GroupRun(Warp& warp, Group const& group, std::uint32_t limit)
      : m_warp(warp), m_lanes(group.lanes), m_pc(group.pc), m_limit(limit) {}

  void run(std::uint64_t& turn) {
    auto const& operations = m_warp.block->run.code.operations;
    auto& counts = m_warp.block->run.counts;
    do {
      auto const& operation = operations[m_pc];
      m_warp.pc = m_pc;
      auto const active = guarded(operation);
      ++counts.warp_instructions;
      counts.thread_instructions += static_cast<unsigned>(__builtin_popcount(active));
      counts.by_instruction[m_pc] += static_cast<unsigned>(__builtin_popcount(m_lanes));
      step(operation, active);
      --turn;
    } while (m_lanes != 0 && m_pc < m_limit && turn > 0);
    if (m_lanes != 0) leave_at(m_pc, m_lanes);
  }

 private:
  void leave_at(std::uint32_t pc, Lanes lanes, bool waits = false) {
    m_warp.groups.push_back({pc, lanes, waits});
  }

  Lanes guarded(Operation const& operation) const {
    if (operation.guard == 0) return m_lanes;
    need_known(m_warp, operation.guard, m_lanes, "the predicate of an instruction");
    auto const guard = m_warp.predicate(operation.guard);
    return m_lanes & (operation.guard_is_negated ? ~guard : guard);
  }

  void step(Operation const& operation, Lanes active) {
    switch (operation.flow) {
      case Flow::straight:
        if (active != 0) execute(operation, active);
        ++m_pc;
        return;
      case Flow::branch:
        return branch(operation, active);
      case Flow::leave:
        return leave(active);
      case Flow::warp_sync:
        return warp_sync(operation, active);
      case Flow::block_sync:
        return block_sync(operation, active);
      case Flow::beyond_end:
        complain(m_warp, first_lane(active), "runs beyond the kernel's end");
    }
  }

  void execute(Operation const& operation, Lanes lanes) {
    if (!operation.tracks_known) {
      auto const* const known = m_warp.known;
      auto const& from = operation.from;
      m_warp.set_known(operation.to,
                       known[from[0]] & known[from[1]] & known[from[2]] & known[from[3]], lanes);
    }
    operation.execute(m_warp, operation, lanes);
  }

  void branch(Operation const& operation, Lanes active) {
    auto const target = static_cast<std::uint32_t>(operation.target);
    if (active == m_lanes) {
      m_pc = target;
    } else {
      ++m_pc;
      if (active == 0) return;
      leave_at(target, active);
      leave_at(m_pc, m_lanes & ~active);
      m_lanes = 0;
    }
  }

  void leave(Lanes active) {
    m_warp.alive &= ~active;
    m_lanes &= ~active;
    ++m_pc;
    for (auto& group : m_warp.groups) group.waits = false;
  }

  // Lanes that an instruction's predicate excludes go on alone.
  void split_off(Lanes active) {
    if (active == m_lanes) return;
    leave_at(m_pc + 1, m_lanes & ~active);
    m_lanes = active;
  }

  // Each lane has its own mask of those for which it waits. Those whose masks are not complete
  // stay.
  void warp_sync(Operation const& operation, Lanes active) {
    if (active == 0) {
      ++m_pc;
      return;
    }
    bool const is_divided = active != m_lanes;
    split_off(active);
    auto const ready = complete_lanes(m_warp, operation.members, active);
    if (ready != active) leave_at(m_pc, active & ~ready, true);
    for (auto rest = ready; rest != 0;) {
      auto const together = m_warp.lanes<Lanes const>(operation.members)[first_lane(rest)] & ready;
      if (operation.execute == nullptr)
        meet(m_warp, together);
      else
        execute(operation, together);
      rest &= ~together;
    }
    ++m_pc;
    m_lanes = ready;
    if (is_divided || ready != active) stop();
  }
  void stop() {
    if (m_lanes != 0) leave_at(m_pc, m_lanes);
    m_lanes = 0;
  }

  void block_sync(Operation const& operation, Lanes active) {
    if (active == 0) {
      ++m_pc;
      return;
    }
    split_off(active);
    auto const missing = m_warp.begun & ~active;
    if ((missing & ~m_warp.alive) != 0)
      complain(m_warp, first_lane(active),
               fmt::format("waits at a barrier, and lane {} of its warp has ended",
                           first_lane(missing & ~m_warp.alive)));
    m_lanes = 0;
    if (missing != 0) return leave_at(m_pc, active, true);
    arrive(m_warp, operation.from[0], operation.from[1]);
    leave_at(m_pc + 1, active);
  }

  Warp& m_warp;
  Lanes m_lanes;
  std::uint32_t m_pc, m_limit;
};

}  // namespace

void run_turn(Warp& warp, std::uint64_t instructions, Choice choice, std::uint64_t draw) {
  while (!warp.groups.empty() && !warp.at_barrier && instructions > 0) {
    merge(warp.groups);
    auto const picked = pick(warp, choice, draw);
    choice = Choice::lowest;
    auto const group = warp.groups[picked];
    warp.groups.erase(warp.groups.begin() + static_cast<std::ptrdiff_t>(picked));
    auto limit = ~std::uint32_t{0};
    for (auto const& other : warp.groups)
      if (other.pc > group.pc) limit = std::min(limit, other.pc);
    GroupRun(warp, group, limit).run(instructions);
  }
}

}  // namespace spillway::test::ptx
