// Defines how the Engine is set up before step 0 and how it ends.
#include <pthread.h>

#include <algorithm>
#include <stdexcept>

#include "base/address_sanitizer.hpp"
#include "base/cannot_start.hpp"
#include "base/math.hpp"
#include "plan/memory/lifetime.hpp"
#include "plan/proof/unroll.hpp"
#include "runtime/engine.hpp"
#include "runtime/poison.hpp"

namespace spillway {
namespace {

constexpr unsigned bit(Lane lane) {
  return 1u << static_cast<unsigned>(lane);
}

// Returns, for each tier, the end of the highest bytes that the item's buffers take.
TierBytes used_end(Program const& program, Item const& item) {
  TierBytes end{};
  for (auto const id : item.operands) {
    if (id == kAbsent) continue;
    auto const& buffer = program.buffers[static_cast<std::size_t>(id)];
    auto& tier_end = end[index(buffer.tier)];
    tier_end = std::max(tier_end, buffer.offset + footprint_bytes(buffer));
  }
  return end;
}

// Returns where the gap behind byte `last` of a buffer ends. Ops on a whole chunk also touch the
// gap behind a parameter, so the gap counts as written with it. Fused parameters have no gap
// between them.
std::int64_t past_gap(Program const& program, Buffer const& buffer, std::int64_t last) {
  constexpr std::int64_t gap_bytes = kParameterAlignment * size_bytes(DType::f32);
  auto past = std::min(round_up(last, gap_bytes), buffer.bytes);
  auto const& tensor = program.tensors[static_cast<std::size_t>(buffer.tensor)];
  if (tensor.role != Role::gradient || tensor.chunk < 0) return past;
  auto const& chunk = program.chunks[static_cast<std::size_t>(tensor.chunk)];
  if (chunk.gradient != tensor.id) return past;
  for (Parameter const& parameter : chunk.parameters) {
    auto const begin = parameter.view.offset * size_bytes(tensor.dtype);
    if (begin >= last) past = std::min(past, begin);
  }
  return past;
}

}  // namespace

Engine::Engine(EngineParts parts, EngineDebug debug) : m_state(std::move(parts), debug) {
  require_reach();
  make_device_lanes();
  bind_items();
  prepare_device_lanes();
  if (m_state.debug.poison) bind_poison();
  try {
    start_threads([this] { start_workers(); });
  } catch (...) {
    m_state.end();  // lets the threads that have started end, so that they can be joined
    throw;
  }
}

Engine::~Engine() {
  m_state.end();
}

// In a Program for unified memory, the host uses buffers of the device tier, which it cannot reach
// on a device with memory of its own.
void Engine::require_reach() const {
  auto const& parts = m_state.parts;
  if (parts.program.unified && parts.tiers.device.has_own_memory())
    throw std::logic_error("this Program is not for a device with memory of its own");
}

// The streams of copies are urgent, because compute may wait for a copy, and a copy takes the
// device little time.
void Engine::make_device_lanes() {
  auto& device = m_state.parts.tiers.device;
  for (auto const lane : {Lane::compute, Lane::h2d, Lane::d2h}) {
    auto const belongs = [lane](Item const& item) { return item.lane == lane; };
    if (std::ranges::none_of(m_state.parts.program.items, belongs)) continue;
    auto stream = device.stream(lane != Lane::compute);
    if (stream == nullptr) break;
    m_state.device_lanes[index(lane)] =
        std::make_unique<DeviceLane>(m_state, lane, std::move(stream));
  }
  auto* const compute = m_state.device_lane(Lane::compute);
  m_state.compute_exec =
      m_state.parts.kernels.device.exec(compute != nullptr ? compute->stream().handle() : nullptr);
  m_state.begin_stream = device.stream(true);
  for (auto& run : m_state.runs) run.device_begin = device.event();
}

// The host waits for each item that an item of its own lanes waits for, and for the last item of
// each device lane in a run.
void Engine::prepare_device_lanes() {
  auto const& program = m_state.parts.program;
  std::vector<bool> awaited(program.items.size());
  for (auto const& item : program.items) {
    if (m_state.device_lane(item.lane) != nullptr) continue;
    for (auto const wait : item.waits) awaited[static_cast<std::size_t>(wait)] = true;
  }
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if (m_state.device_lanes[lane] == nullptr) continue;
    std::vector<bool> of_lane;
    for (auto const& time : m_state.runs[0].times) {
      auto const item = static_cast<std::size_t>(time.item);
      if (index(program.items[item].lane) == lane) of_lane.push_back(awaited[item]);
    }
    of_lane.back() = true;
    m_state.device_lanes[lane]->prepare(of_lane);
    m_polls = true;
  }
}

void Engine::bind_items() {
  auto const& program = m_state.parts.program;
  auto const ranks = static_cast<std::size_t>(m_state.parts.comm.size());
  for (auto& run : m_state.runs) run.record.waits.resize(ranks);
  for (auto const& item : program.items) {
    m_has_commit = m_has_commit || item.kind == ItemKind::commit;
    auto* const lane = m_state.device_lane(item.lane);
    BindTo const to{item.lane == Lane::host ? *m_state.host_exec : *m_state.compute_exec,
                    lane != nullptr ? &lane->stream() : nullptr, m_state.state_lost};
    auto bound = bind_item(m_state.parts, to, item);
    bound.end = used_end(program, item);
    bound.bytes = item.kind == ItemKind::op ? 0 : written_bytes(item);
    bound.part = work_part(program, item);
    m_state.items.push_back(std::move(bound));
  }
  for (auto const& instance : unroll(program, m_state.sequence, 1)) {
    auto const& item = program.items[static_cast<std::size_t>(instance.item)];
    auto const count = ++m_items_per_run[index(item.lane)];
    bool const decides = item.kind == ItemKind::commit || item.kind == ItemKind::report;
    if (decides) m_items_to_decision = count;
    for (auto& run : m_state.runs) run.times.push_back({.item = instance.item});
  }
  if (!m_has_commit) m_items_to_decision = m_items_per_run[index(Lane::comm)];
}

void Engine::bind_poison() {
  auto const& program = m_state.parts.program;
  auto const begun = first_writes(program);
  for (std::size_t i = 0; i < m_state.items.size(); ++i) {
    auto& item = m_state.items[i];
    for (std::size_t version = 0; version < 2; ++version) {
      auto const bytes = [&](Access const& access, std::int64_t last) {
        auto const& buffer = program.buffers[static_cast<std::size_t>(access.buffer)];
        auto const all = memory_bytes(m_state.parts.tiers, buffer, static_cast<int>(version));
        return part(all, access.first, last);
      };
      for (auto const& access : begun[i]) item.begun[version].push_back(bytes(access, access.last));
      for (auto const& access : program.items[i].writes) {
        auto const& buffer = program.buffers[static_cast<std::size_t>(access.buffer)];
        if (buffer.tier == Tier::nvme) continue;
        auto const written = bytes(access, past_gap(program, buffer, access.last));
        if (auto const* const on_host = std::get_if<HostBytes>(&written))
          item.written[version].push_back(*on_host);
      }
    }
  }
}

// Tells AddressSanitizer that bytes which no item of the step has written are out of bounds.
void Engine::forbid_transients() const {
  for (auto const& buffer : m_state.parts.program.buffers) {
    if (buffer.persistent || buffer.tier == Tier::nvme || buffer.offset < 0) continue;
    for (int version = 0; version < buffer.versions; ++version) {
      auto const bytes = memory_bytes(m_state.parts.tiers, buffer, version);
      if (auto const* const on_host = std::get_if<HostBytes>(&bytes)) forbid_access(*on_host);
    }
  }
}

void Engine::start_workers() {
  auto const& program = m_state.parts.program;
  auto const cursor = [&](Lane lane) { return Cursor(program, m_state.sequence, bit(lane)); };
  auto const name = [&](char const* text) {
    pthread_setname_np(m_threads.back().native_handle(), text);
  };
  bool const locked = m_state.debug.locked_allocator;
  unsigned used = 0;
  for (auto const& item : program.items) used |= bit(item.lane);
  m_compute.emplace(cursor(Lane::compute), locked);
  if (m_polls) {
    m_threads.emplace_back([this] { poll(); });
    name("device");
  }
  for (auto const lane : {Lane::comm, Lane::host, Lane::data}) {
    if ((used & bit(lane)) == 0) continue;
    // The library that moves messages may allocate (comm/comm.hpp).
    auto& worker = *m_workers.emplace_back(
        std::make_unique<Worker>(cursor(lane), locked && lane != Lane::comm));
    m_threads.emplace_back([this, &worker] { work(worker); });
    name(std::string(spillway::name(lane)).c_str());
  }
  if ((used & TransferLanes::kBits) == 0) return;
  m_transfers.emplace(m_state, used);
  m_threads.emplace_back([this] { transfer(); });
  name("transfer");
}

std::span<ItemTime const> Engine::last_step_times() const {
  return m_state.runs[(m_runs + 1) % 2].times;
}

HostBytes Engine::bytes(TensorId tensor) const {
  auto const* const buffer = find_buffer(m_state.parts.program, tensor);
  if (!buffer) return {};
  auto const last_parity = static_cast<int>((m_runs + 1) % 2);
  return host_bytes(m_state.parts.tiers, *buffer, last_parity);
}

}  // namespace spillway
