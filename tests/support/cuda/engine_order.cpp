// Watches what an Engine does.
#include "tests/support/cuda/engine_order.hpp"

#include <algorithm>
#include <variant>

#include "base/allocator_pass.hpp"
#include "plan/proof/unroll.hpp"
#include "tests/support/cuda/complaints.hpp"
#include "tests/support/cuda/kernel.hpp"

namespace spillway::test::cuda {
namespace {

// Returns the range of a buffer's bytes that an item uses. A sum of gradients passes over the whole
// chunk, also over the gaps between its parameters, which the item does not count as accesses,
// since nobody uses what lies there.
Access used(Program const& program, Item const& item, Buffer const& buffer) {
  bool const sums_chunks =
      program.ops[static_cast<std::size_t>(item.op)].kind == OpKind::accumulate;
  if (sums_chunks) return {.buffer = buffer.id, .first = 0, .last = buffer.bytes, .writers = {}};
  Access all{buffer.id, buffer.bytes, 0, {}};
  for (auto const* accesses : {&item.reads, &item.writes}) {
    for (auto const& access : *accesses) {
      if (access.buffer != buffer.id) continue;
      all.first = std::min(all.first, access.first);
      all.last = std::max(all.last, access.last);
    }
  }
  return all;
}

}  // namespace

EngineOrder::EngineOrder(Program const& program, Tiers const& tiers)
    : m_program(program), m_tiers(tiers), m_sequence(segment_sequence(program)) {
  for (auto const& instance : unroll(program, m_sequence, 1)) m_items.push_back(instance.item);
  for (auto const& item : program.items) {
    m_texts.push_back(describe(program, item.number));
    m_ranges.push_back({ranges(item, 0), ranges(item, 1)});
  }
}

bool EngineOrder::is_of_device(ItemNumber item) const {
  auto const lane = m_program.items[static_cast<std::size_t>(item)].lane;
  return lane == Lane::compute || lane == Lane::h2d || lane == Lane::d2h;
}

std::vector<AddressRange> EngineOrder::ranges(Item const& item, int parity) const {
  std::vector<AddressRange> result;
  if (item.kind != ItemKind::op || item.lane != Lane::compute) return result;
  for (auto const id : item.operands) {
    if (id == kAbsent) {
      result.emplace_back();
      continue;
    }
    auto const& buffer = m_program.buffers[static_cast<std::size_t>(id)];
    auto const access = used(m_program, item, buffer);
    auto const all = on_device(m_tiers.device, memory_bytes(m_tiers, buffer, parity));
    result.push_back(range_of(all.part(access.first, access.last - access.first).operand(),
                              access.last - access.first));
  }
  return result;
}

EngineOrder::Seen* EngineOrder::find(Execution const& execution) {
  std::scoped_lock const lock(m_mutex);
  while (m_runs.size() <= execution.run) m_runs.emplace_back(m_items.size());
  return &m_runs[execution.run][execution.instance];
}

EngineOrder::~EngineOrder() {
  for (auto const& text : unordered()) complain(text);
  for (auto const& text : not_ended()) complain(text);
  if (auto* const orders = collected_orders()) note_orders(*orders);
  for (auto const* const count : m_counts) Order::forget(count);
}

void EngineOrder::publishes(void const* count, std::uint64_t until) {
  {
    AllocatorPass const pass;
    std::scoped_lock const lock(m_mutex);
    m_counts.insert(count);
  }
  Order::release(count, until);
}

void EngineOrder::prepares(std::uint64_t) {
  AllocatorPass const pass;
  m_prepared.push_back(mark_here());
}

void EngineOrder::relies_on(Lane lane, std::uint64_t runs) {
  AllocatorPass const pass;
  if (runs > 0) m_reliances.push_back({mark_here(), lane, runs - 1});
}

void EngineOrder::begins(Execution const& execution) {
  AllocatorPass const pass;
  auto const item = static_cast<std::size_t>(execution.item);
  doing(m_texts[item].c_str());
  auto& seen = *find(execution);
  if (!is_of_device(execution.item)) {
    report_accesses(execution);
    seen.begin = mark_here();
    seen.begun = moment();
    return;
  }
  seen.pieces = mark_pieces(m_texts[item]);
  auto const& ranges = m_ranges[item][execution.run % 2];
  if (!ranges.empty()) expect_ranges(ranges);
}

void EngineOrder::has_begun(Execution const&) {
  doing("");
  mark_no_more_pieces();
  expect_any_ranges();
}

void EngineOrder::ends(Execution const& execution) {
  if (is_of_device(execution.item)) return;
  AllocatorPass const pass;
  auto& seen = *find(execution);
  learn(seen.begin);  // whoever reports that an item has ended knows that it has begun
  report_accesses(execution);
  seen.end = mark_here();
}

void EngineOrder::report_accesses(Execution const& execution) const {
  auto const& item = m_program.items[static_cast<std::size_t>(execution.item)];
  auto const report = [&](std::vector<Access> const& accesses, bool is_write) {
    for (auto const& access : accesses) {
      auto const& buffer = m_program.buffers[static_cast<std::size_t>(access.buffer)];
      if (buffer.tier != Tier::host) continue;
      auto const all = memory_bytes(m_tiers, buffer, static_cast<int>(execution.run % 2));
      host_access(std::get<HostBytes>(part(all, access.first, access.last)), is_write);
    }
  };
  report(item.reads, false);
  report(item.writes, true);
}

std::unique_ptr<OrderWatch> make_engine_order(Program const& program, Tiers const& tiers) {
  return std::make_unique<EngineOrder>(program, tiers);
}

}  // namespace spillway::test::cuda
