// The Engine before step 0 and after the last one.
#include <pthread.h>

#include <algorithm>

#include "base/math.hpp"
#include "plan/lifetime.hpp"
#include "plan/unroll.hpp"
#include "runtime/engine.hpp"
#include "runtime/poison.hpp"

namespace spillway {
namespace {

constexpr unsigned bit(Lane lane) {
  return 1u << static_cast<unsigned>(lane);
}

// One thread each. The transfers of one thread start in the total order, which all of them may.
struct Team {
  char const* name;
  unsigned lanes;
  bool locked;  // by debug.locked_allocator
};
constexpr Team kTeams[] = {
    {"compute", bit(Lane::compute), true},
    {"transfer", bit(Lane::h2d) | bit(Lane::d2h) | bit(Lane::nvme_read) | bit(Lane::nvme_write),
     true},
    {"comm", bit(Lane::comm), false},
    {"host", bit(Lane::host), false},
};

// The highest byte, per tier, that the item's buffers take in either version.
std::array<std::int64_t, kTiers> used_end(Program const& program, Item const& item) {
  std::array<std::int64_t, kTiers> end{};
  for (auto const id : item.operands) {
    auto const& buffer = program.buffers[static_cast<std::size_t>(id)];
    auto& tier_end = end[static_cast<std::size_t>(buffer.tier)];
    tier_end = std::max(tier_end, buffer.offset + footprint_bytes(buffer));
  }
  return end;
}

}  // namespace

Engine::Engine(EngineParts parts, EngineDebug debug)
    : m_parts(std::move(parts)), m_debug(debug), m_sequence(segment_sequence(m_parts.program)) {
  bind_items();
  if (m_debug.poison) bind_poison();
  try {
    start_workers();
  } catch (...) {
    m_gate.fail();  // those that did start are joined
    throw;
  }
}

Engine::~Engine() {
  m_gate.fail();
  for (auto& clock : m_clocks) clock.fail();
}

void Engine::bind_items() {
  auto const& program = m_parts.program;
  for (auto const& item : program.items) {
    m_has_commit = m_has_commit || item.kind == ItemKind::commit;
    m_items.push_back({bind(m_parts, m_record, item), used_end(program, item), {}, {}});
  }
  for (auto const& instance : unroll(program, m_sequence, 1)) {
    m_times.push_back({.item = instance.item});
  }
}

void Engine::bind_poison() {
  auto const& program = m_parts.program;
  auto const begun = first_writes(program);
  auto const add = [&](auto& spans, Access const& access, std::int64_t granularity) {
    auto const& buffer = program.buffers[static_cast<std::size_t>(access.buffer)];
    if (buffer.tier == Tier::nvme) return;
    for (std::size_t version = 0; version < 2; ++version) {
      auto const all = buffer_bytes(m_parts.tiers, buffer, static_cast<int>(version));
      auto const past = std::min(round_up(access.last, granularity), std::ssize(all));
      spans[version].push_back(all.subspan(static_cast<std::size_t>(access.first),
                                           static_cast<std::size_t>(past - access.first)));
    }
  };
  // A parameter's gradient brings the gap behind it, over which ops on the whole chunk pass.
  constexpr std::int64_t gap_bytes = kParameterAlignment * size_bytes(DType::f32);
  for (std::size_t i = 0; i < m_items.size(); ++i) {
    for (auto const& access : begun[i]) add(m_items[i].begun, access, 1);
    for (auto const& access : program.items[i].writes) add(m_items[i].written, access, gap_bytes);
  }
}

// With AddressSanitizer, bytes that no item of the step has written are out of bounds.
void Engine::forbid_transients() const {
  for (auto const& buffer : m_parts.program.buffers) {
    if (buffer.persistent || buffer.tier == Tier::nvme || buffer.offset < 0) continue;
    for (int version = 0; version < buffer.versions; ++version) {
      forbid_access(buffer_bytes(m_parts.tiers, buffer, version));
    }
  }
}

void Engine::start_workers() {
  auto const& items = m_parts.program.items;
  unsigned needed = bit(Lane::compute);
  for (auto const& item : items) needed |= bit(item.lane);
  for (auto const& team : kTeams) {
    if ((team.lanes & needed) == 0) continue;
    auto& worker = *m_workers.emplace_back(std::make_unique<Worker>());
    worker.lanes = team.lanes;
    worker.locked = team.locked && m_debug.locked_allocator;
    worker.position.resize(items.size());
    if (m_workers.size() == 1) continue;  // the caller's own
    m_threads.emplace_back([this, &worker] { work(worker); });
    pthread_setname_np(m_threads.back().native_handle(), team.name);
  }
}

std::span<std::byte> Engine::bytes(TensorId tensor) const {
  auto const* const buffer = find_buffer(m_parts.program, tensor);
  if (!buffer) return {};
  auto const last_parity = static_cast<int>((m_runs + 1) % 2);
  return buffer_bytes(m_parts.tiers, *buffer, last_parity);
}

}  // namespace spillway
