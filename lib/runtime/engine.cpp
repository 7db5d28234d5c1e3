#include "runtime/engine.hpp"

#include <cstring>

#include "runtime/locked_allocator.hpp"
#include "runtime/poison.hpp"

namespace spillway {

StepResult Engine::run_step(std::int64_t step) {
  if (!m_gate.wait_for(0)) rethrow();
  m_step = step;
  m_begin = Clock::now();
  m_record.spilled_bytes = m_record.reloaded_bytes = 0;
  if (m_debug.poison) forbid_transients();
  m_gate.publish();
  bool done = false;
  try {
    done = walk(*m_workers.front()) && wait_for_step();
  } catch (...) {
    fail(std::current_exception());
  }
  if (!done) rethrow();
  ++m_runs;
  return collect();
}

void Engine::work(Worker& worker) {
  for (std::uint64_t step = 1; m_gate.wait_for(step); ++step) {
    try {
      if (!walk(worker)) return;
    } catch (...) {
      return fail(std::current_exception());
    }
  }
}

bool Engine::walk(Worker& worker) {
  AllocatorLock const lock(worker.locked && m_runs > 0);
  auto const& program = m_parts.program;
  ItemContext context{m_step, 0, static_cast<int>(m_runs % 2)};
  worker.stall_s = {};
  std::size_t instance = 0;
  for (int const s : m_sequence) {
    auto const& segment = program.segments[static_cast<std::size_t>(s)];
    for (auto n = segment.first; n < segment.last; ++n, ++instance) {
      auto const& item = program.items[static_cast<std::size_t>(n)];
      auto const lane = index(item.lane);
      bool const mine = (worker.lanes >> lane & 1u) != 0;
      if (mine && !execute(worker, item, instance, context)) return false;
      // Only now: a wait for the item itself means its previous instance.
      worker.position[static_cast<std::size_t>(n)] = ++worker.counts[lane];
      if (item.kind == ItemKind::load_batch) ++context.micro_batch;
    }
  }
  return true;
}

bool Engine::execute(Worker& worker, Item const& item, std::size_t instance,
                     ItemContext const& context) {
  auto const& bound = m_items[static_cast<std::size_t>(item.number)];
  auto const lane = index(item.lane);
  auto& time = m_times[instance];
  time.ready_s = elapsed_s();
  if (!wait_for_all(item, worker)) return false;
  time.start_s = elapsed_s();
  if (m_debug.poison) prepare_memory(bound, static_cast<std::size_t>(context.parity));
  bound.run(context);
  for (std::size_t tier = 0; tier < kTiers; ++tier) {
    m_parts.tiers.in_use[tier].raise(bound.end[tier]);
  }
  time.end_s = elapsed_s();
  worker.stall_s[lane] += time.start_s - time.ready_s;
  m_clocks[lane].publish();
  return true;
}

// An item that has not run yet has position 0, which every count has reached.
bool Engine::wait_for_all(Item const& item, Worker const& worker) const {
  for (auto const wait : item.waits) {
    auto const earlier = static_cast<std::size_t>(wait);
    auto const lane = index(m_parts.program.items[earlier].lane);
    if (!m_clocks[lane].wait_for(worker.position[earlier])) return false;
  }
  return true;
}

// The barrier between steps. The walk itself does not rely on it.
bool Engine::wait_for_step() {
  auto const& counts = m_workers.front()->counts;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if (!m_clocks[lane].wait_for(counts[lane])) return false;
  }
  return true;
}

void Engine::prepare_memory(BoundItem const& bound, std::size_t version) const {
  for (auto const bytes : bound.written[version]) allow_access(bytes);
  for (auto const bytes : bound.begun[version]) fill_with_nan(bytes);
}

void Engine::fail(std::exception_ptr error) {
  {
    std::scoped_lock const lock(m_error_mutex);
    if (!m_error) m_error = std::move(error);
  }
  m_gate.fail();
  for (auto& clock : m_clocks) clock.fail();
}

void Engine::rethrow() {
  std::scoped_lock const lock(m_error_mutex);
  std::rethrow_exception(m_error);
}

void Engine::read_own_loss(StepResult& result) const {
  auto const loss = bytes(m_parts.program.known.loss);
  if (loss.size() < 2 * sizeof(double)) return;
  std::memcpy(&result.loss_sum, loss.data(), sizeof(double));
  std::memcpy(&result.weight_sum, loss.data() + sizeof(double), sizeof(double));
}

StepResult Engine::collect() const {
  StepResult result;
  result.step_s = elapsed_s();
  for (auto const& worker : m_workers) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
      result.stall_s[lane] += worker->stall_s[lane];
    }
  }
  result.spilled_bytes = m_record.spilled_bytes;
  result.reloaded_bytes = m_record.reloaded_bytes;
  result.loss_sum = m_record.sums.loss_sum;
  result.weight_sum = m_record.sums.weight_sum;
  if (!m_has_commit) read_own_loss(result);
  result.word = m_record.decision.word;
  result.stop = m_record.stop;
  result.grad_norm = m_record.decision.grad_norm;
  result.learning_rate = m_record.decision.learning_rate;
  return result;
}

}  // namespace spillway
