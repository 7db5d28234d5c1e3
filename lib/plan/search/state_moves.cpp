#include "plan/search/state_moves.hpp"

#include <algorithm>

namespace spillway {

StateMover::StateMover(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets)
    : m_estimator(estimator), m_open(open), m_budgets(budgets) {
  if (budgets.host_bytes == 0 && budgets.nvme_bytes == 0) return;
  for (int c = 0; c < std::ssize(open.chunks); ++c) {
    if (open.chunks[c].optimizer) m_optimizer.push_back(c);
    if (open.chunks[c].parameters) m_parameters.push_back(c);
  }
}

StateMover::Move StateMover::move(int number, StateMoves const& moves) const {
  bool const is_optimizer = number < optimizers();
  auto const& chunks = is_optimizer ? m_optimizer : m_parameters;
  bool const from_back = is_optimizer ? moves.from_back : moves.parameters_from_back;
  int const i = is_optimizer ? number : number - optimizers();
  int const c = chunks[from_back ? std::ssize(chunks) - 1 - i : i];
  auto const& cost = m_estimator.model().chunks[c];
  if (is_optimizer) return {c, &ChunkPlan::optimizer, cost.optimizer_bytes};
  return {c, &ChunkPlan::parameters, cost.home_bytes};
}

// Decides everything that follows from where state lies. A device with its own memory sends
// gradients to the memory that updates use.
void StateMover::settle(Plan& plan, bool device_updates) const {
  bool const other_memory = !plan.unified && m_budgets.host_bytes > 0;
  plan.redo = true;
  for (int c = 0; c < std::ssize(plan.chunks); ++c) {
    auto& places = plan.chunks[c];
    auto const& open = m_open.chunks[c];
    bool const on_device = device_updates || places.optimizer == Tier::device;
    if (open.update) places.update = on_device ? Tier::device : Tier::host;
    bool const on_host = places.update == Tier::host;
    if (open.gradients) places.gradients = other_memory && on_host ? Tier::host : Tier::device;
    if (on_host) plan.redo = m_open.norm_is_awaited;
  }
}

std::int64_t StateMover::room_on_host(Plan plan, StateMoves const& moves) const {
  plan.chunks = m_open.plan.chunks;
  for (int i = 0; i < std::min(moves.count, optimizers()); ++i)
    plan.chunks[move(i, moves).chunk].optimizer = Tier::nvme;
  settle(plan, moves.device_updates);
  return m_budgets.host_bytes - m_estimator.peaks(plan)[Tier::host];
}

void StateMover::apply(StateMoves const& moves, std::int64_t host_bytes, Plan& plan) const {
  plan.chunks = m_open.plan.chunks;
  for (int i = 0; i < std::min(moves.count, most()); ++i) {
    auto const [chunk, place, bytes] = move(i, moves);
    bool const fits = !moves.drive_only && bytes <= host_bytes;
    if (fits) host_bytes -= bytes;
    plan.chunks[chunk].*place = fits || m_budgets.nvme_bytes == 0 ? Tier::host : Tier::nvme;
  }
  settle(plan, moves.device_updates);
}

int StateMover::moves_for(std::int64_t device_bytes, StateMoves const& moves) const {
  auto const bytes = [&](int number) { return move(number, moves).bytes; };
  int count = moves.count;
  while (count < most() && device_bytes > 0) device_bytes -= bytes(count++);
  while (count > 0 && device_bytes + bytes(count - 1) <= 0) device_bytes += bytes(--count);
  return count;
}

}  // namespace spillway
