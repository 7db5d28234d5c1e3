#include "tests/support/cuda/state.hpp"

#include "base/allocator_pass.hpp"
#include "tests/support/cuda/complaints.hpp"

namespace spillway::test::cuda {

State& state() {
  static auto& all = *new State;
  return all;
}

namespace {

thread_local void const* t_acts_for = nullptr;

}  // namespace

Component& this_thread(State& all) {
  if (t_acts_for != nullptr) {
    auto const at = all.others.find(t_acts_for);
    if (at != all.others.end()) return at->second;
    return all.others.emplace(t_acts_for, Component(all.next_component++)).first->second;
  }
  struct Own {
    int clocks = -1;
    Component component{0};
  };
  thread_local Own own;
  if (own.clocks != all.clocks) own = {all.clocks, Component(all.next_component++)};
  return own.component;
}

void Order::act_for(void const* whom) {
  t_acts_for = whom;
}

void Order::release(void const* count, std::uint64_t until) {
  AllocatorPass const pass;
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  all.meetings.release(count, until, this_thread(all).release());
}

void Order::acquire(void const* count, std::uint64_t position) {
  AllocatorPass const pass;
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  all.meetings.acquire(count, position, this_thread(all));
}

void Order::forget(void const* count) {
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  all.meetings.forget(count);
}

void drop_release(std::int64_t n) {
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  all.meetings.drop(n);
}

std::int64_t releases() {
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  return all.meetings.releases();
}

bool dropped_release_was_of_use() {
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  return all.meetings.dropped_was_of_use();
}

ThreadState& thread_state() {
  thread_local ThreadState own;
  return own;
}

bool is_device(State const& all, AddressRange const& range) {
  return all.memory.is_device(range.first) ||
         (range.bytes > 0 && all.memory.is_device(range.last() - 1));
}

std::byte* reachable(State const& all, AddressRange const& range) {
  if (!all.allocations.allow(range)) return nullptr;
  if (is_device(all, range))
    return all.memory.accessible(range) ? all.memory.shadow(range.first) : nullptr;
  if (all.pinned.holds(range) || all.allocations.is_managed(range))
    return reinterpret_cast<std::byte*>(range.first);
  auto const variable =
      all.code.variable_around(range.first, static_cast<std::size_t>(range.bytes));
  return variable ? variable->host + (range.first - variable->address) : nullptr;
}

Bytes reachable_bytes(State const& all, AddressRange const& range) {
  auto* const at = reachable(all, range);
  if (at == nullptr) return {};
  if (is_device(all, range)) return {at, range.bytes, all.memory.states(range.first)};
  return {at, range.bytes, all.pinned.states(range)};
}

void reset(Settings const& settings) {
  AllocatorPass const pass;
  auto& all = state();
  std::unique_lock lock(all.mutex);
  Scheduler::Demand drained{.met = [&] { return all.queues.idle(); }};
  all.scheduler.serve(drained);
  all.queues.drop_work();
  all.settings = settings;
  all.memory.set_total(settings.memory_bytes, settings.taken_bytes);
  all.queues.restart(settings);
  all.faults.forget();
  all.accesses.forget_all();
  ++all.clocks;
  all.next_component = 0;
  all.others.clear();
  all.meetings = {};
  for (auto& [id, stream] : all.queues.streams()) stream.clock = Component(all.next_component++);
  all.needless_calls.clear();
  all.priorities.clear();
  all.launches = all.turns = 0;
  thread_state() = {};
  forget_complaints();
}

std::vector<std::string> leftovers() {
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  auto result = all.queues.leftovers();
  for (auto const& more : {all.lt.leftovers(), all.allocations.leftovers(), all.memory.leftovers(),
                           all.pinned.leftovers()})
    result.insert(result.end(), more.begin(), more.end());
  return result;
}

void give_back_leftovers() {
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  all.queues.drop_work();
  all.queues.remove_all();
  all.lt.remove_all();
  all.accesses.forget_all();
  all.allocations.remove_all(all.memory);
  all.memory.give_all_back();
  all.pinned = {};
}

void plan_fault(PlannedFault const& fault) {
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  all.faults.plan(fault);
}

std::map<std::string, std::int64_t> calls() {
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  return all.faults.calls();
}

std::uint64_t turns_of_warps() {
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  return all.turns;
}

std::map<std::string, std::set<std::int64_t>> needless_calls() {
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  return all.needless_calls;
}

std::vector<int> priorities() {
  auto& all = state();
  std::scoped_lock const lock(all.mutex);
  return all.priorities;
}

}  // namespace spillway::test::cuda
