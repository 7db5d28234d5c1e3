#include "plan/search/strategy.hpp"

#include <algorithm>

namespace spillway {

StrategySpace::StrategySpace(Estimator const& estimator, OpenPlan const& open,
                             Budgets const& budgets)
    : m_estimator(estimator), m_open(open), m_budgets(budgets) {
  for (int b = 0; b < std::ssize(open.layers); ++b) {
    if (open.layers[b]) m_layers.push_back(b);
  }
  for (int c = 0; c < std::ssize(open.chunks); ++c) {
    if (open.chunks[c].shard && open.plan.chunks[c].shard == Shard::all) m_shared.push_back(c);
  }
  if (budgets.host_bytes == 0 && budgets.nvme_bytes == 0) return;
  for (int c = 0; c < std::ssize(open.chunks); ++c) {
    if (open.chunks[c].optimizer) m_optimizer.push_back(c);
    if (open.chunks[c].parameters) m_parameters.push_back(c);
  }
}

Plan StrategySpace::plan_of(Strategy const& strategy) const {
  Plan plan = m_open.plan;
  plan.prefetch = strategy.prefetch;
  plan.group = strategy.group;
  apply(strategy.mix, m_layers, plan);
  for (int i = 0; i < std::ssize(strategy.own); ++i) plan.blocks[m_layers[i]] = strategy.own[i];
  int const last = m_estimator.model().last_layer;  // this layer's activations are never spilled
  if (!m_layers.empty() && m_layers.back() == last) plan.blocks[last] = staying(plan.blocks[last]);
  for (int i = 0; i < std::min(strategy.persistent, shared()); ++i)
    plan.chunks[m_shared[i]].shard = Shard::gradients;
  auto room_bytes = strategy.host_bytes;
  int const count = std::min(strategy.moves.count, most_moves());
  int const first = strategy.moves.parameters_near ? std::min(count, optimizers()) : 0;
  for (int i = 0; i < count; ++i) {
    auto const [chunk, place, bytes] = move((first + i) % count, strategy);
    bool const fits = !strategy.moves.drive_only && bytes <= room_bytes;
    if (fits) room_bytes -= bytes;
    plan.chunks[chunk].*place = fits || m_budgets.nvme_bytes == 0 ? Tier::host : Tier::nvme;
  }
  settle(plan, strategy.moves.device_updates);
  return plan;
}

Shard StrategySpace::shard(int chunk, Strategy const& strategy) const {
  int const persistent = std::min(strategy.persistent, shared());
  bool const is_persistent =
      persistent > 0 && m_open.chunks[chunk].shard && chunk <= m_shared[persistent - 1];
  return is_persistent ? Shard::gradients : m_open.plan.chunks[chunk].shard;
}

StrategySpace::Move StrategySpace::move(int number, Strategy const& strategy) const {
  auto const& moves = strategy.moves;
  bool const is_optimizer = number < optimizers();
  auto const& chunks = is_optimizer ? m_optimizer : m_parameters;
  bool const from_back = is_optimizer ? moves.from_back : moves.parameters_from_back;
  int const i = is_optimizer ? number : number - optimizers();
  int const c = chunks[from_back ? std::ssize(chunks) - 1 - i : i];
  auto const& cost = m_estimator.model().shared_by(m_open.plan.sharers)[shard(c, strategy)][c];
  if (is_optimizer) return {c, &ChunkPlan::optimizer, cost.optimizer_bytes};
  return {c, &ChunkPlan::parameters, cost.home_bytes};
}

// Decides where updates run, whether there is redo, and where gradients lie: if the device has its
// own memory, in the memory that updates use.
void StrategySpace::settle(Plan& plan, bool device_updates) const {
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

bool StrategySpace::shares_host_room(Strategy const& strategy) const {
  bool const two_tiers = m_budgets.host_bytes > 0 && m_budgets.nvme_bytes > 0;
  bool const both_move = optimizers() > 0 && strategy.moves.count > optimizers();
  return two_tiers && both_move && !strategy.moves.drive_only;
}

void StrategySpace::find_room(Strategy& strategy) const {
  strategy.host_bytes = 0;
  if (strategy.moves.count == 0 || m_budgets.host_bytes == 0) return;
  auto to_drive = strategy;  // a copy without room on the host, whose state goes to the drive
  to_drive.moves.count = std::min(strategy.moves.count, optimizers());
  strategy.host_bytes = m_budgets.host_bytes - peaks(to_drive)[Tier::host];
}

int StrategySpace::moves_for(std::int64_t device_bytes, Strategy const& strategy) const {
  auto const bytes = [&](int number) { return move(number, strategy).bytes; };
  int count = strategy.moves.count;
  while (count < most_moves() && device_bytes > 0) device_bytes -= bytes(count++);
  while (count > 0 && device_bytes + bytes(count - 1) <= 0) device_bytes += bytes(--count);
  return count;
}

// Tries numbers of moves, from `guess` on. The next number follows from the bytes that the last one
// lacks, or lies halfway between the limits. Parameters that move need room on the device when they
// return, so they move only once moving all optimizer state was tried and did not suffice.
int StrategySpace::fewest_moves(Strategy strategy, int guess) const {
  int fails = 0, does = most_moves();
  for (int tries = 1; does - fails > 1; ++tries) {
    if (fails < optimizers()) guess = std::min(guess, optimizers());
    int const at = tries % 4 == 0 ? (fails + does) / 2 : std::clamp(guess, fails + 1, does - 1);
    strategy.moves.count = at;
    auto const bytes = peaks(strategy)[Tier::device];
    (bytes <= m_budgets.device_bytes ? does : fails) = at;
    guess = moves_for(bytes - m_budgets.device_bytes, strategy);
  }
  return does;
}

}  // namespace spillway
