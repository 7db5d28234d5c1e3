#include "plan/search/state_moves.hpp"

#include <algorithm>

namespace spillway {

StateMover::StateMover(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets)
    : m_estimator(estimator), m_open(open), m_budgets(budgets) {
  if (budgets.host_bytes == 0 && budgets.nvme_bytes == 0) return;
  for (std::size_t c = 0; c < open.chunks.size(); ++c) {
    if (open.chunks[c].optimizer) m_optimizer.push_back(c);
    if (open.chunks[c].parameters) m_parameters.push_back(c);
  }
}

std::size_t StateMover::optimizer(int i, bool from_back) const {
  return m_optimizer[from_back ? optimizers() - 1 - i : i];
}

std::size_t StateMover::parameters(int i, bool from_back) const {
  int const last = static_cast<int>(m_parameters.size()) - 1;
  return m_parameters[from_back ? last - i : i];
}

Tier StateMover::away(StateMoves const& moves, std::int64_t bytes, std::int64_t& host_bytes) const {
  bool const fits = !moves.drive_only && bytes <= host_bytes;
  if (fits) host_bytes -= bytes;
  return fits || m_budgets.nvme_bytes == 0 ? Tier::host : Tier::nvme;
}

// What follows from where state lies. On a device of its own, gradients go to where they are used.
void StateMover::settle(Plan& plan, bool device_updates) const {
  bool const other_memory = !plan.unified && m_budgets.host_bytes > 0;
  bool on_host = false;
  for (std::size_t c = 0; c < plan.chunks.size(); ++c) {
    auto& places = plan.chunks[c];
    auto const& open = m_open.chunks[c];
    bool const on_device = device_updates || places.optimizer == Tier::device;
    if (open.update) places.update = on_device ? Tier::device : Tier::host;
    bool const to_host = other_memory && places.update == Tier::host;
    if (open.gradients) places.gradients = to_host ? Tier::host : Tier::device;
    on_host = on_host || places.update == Tier::host;
  }
  plan.redo = m_open.norm_is_awaited || !on_host;
}

std::int64_t StateMover::room_on_host(Plan plan, StateMoves const& moves) const {
  plan.chunks = m_open.plan.chunks;
  for (int i = 0; i < std::min(moves.count, optimizers()); ++i)
    plan.chunks[optimizer(i, moves.from_back)].optimizer = Tier::nvme;
  settle(plan, moves.device_updates);
  return m_budgets.host_bytes - m_estimator.peaks(plan)[Tier::host];
}

void StateMover::apply(StateMoves const& moves, std::int64_t host_bytes, Plan& plan) const {
  plan.chunks = m_open.plan.chunks;
  for (int i = 0; i < std::min(moves.count, optimizers()); ++i) {
    auto const c = optimizer(i, moves.from_back);
    plan.chunks[c].optimizer = away(moves, m_estimator.chunk(c).optimizer_bytes, host_bytes);
  }
  for (int i = 0; i < std::min(moves.count, most()) - optimizers(); ++i) {
    auto const c = parameters(i, moves.parameters_from_back);
    plan.chunks[c].parameters = away(moves, m_estimator.chunk(c).home_bytes, host_bytes);
  }
  settle(plan, moves.device_updates);
}

int StateMover::moves_for(std::int64_t device_bytes, StateMoves const& moves) const {
  auto const bytes = [&](int move) {
    bool const optimizer_moves = move < optimizers();
    auto const& chunk = m_estimator.chunk(
        optimizer_moves ? optimizer(move, moves.from_back)
                        : parameters(move - optimizers(), moves.parameters_from_back));
    return optimizer_moves ? chunk.optimizer_bytes : chunk.home_bytes;
  };
  int count = moves.count;
  while (count < most() && device_bytes > 0) device_bytes -= bytes(count++);
  while (count > 0 && device_bytes + bytes(count - 1) <= 0) device_bytes += bytes(--count);
  return count;
}

}  // namespace spillway
