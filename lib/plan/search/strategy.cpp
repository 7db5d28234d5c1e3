#include "plan/search/strategy.hpp"

#include <algorithm>
#include <utility>

#include "plan/schedule/streaming.hpp"

namespace spillway {

namespace {

// Returns the first of the numbers of early updates that the search tries with which as many of the
// plan's updates on the host are early, and the same ones, as with `early`.
std::int64_t first_alike(std::int64_t early, Plan const& plan) {
  auto const updates = std::ranges::count(plan.chunks, Tier::host, &ChunkPlan::update);
  auto const is_alike = [&](std::int64_t other) {
    for (std::int64_t i = 0; i < updates; ++i)
      if (is_early(i, other) != is_early(i, early)) return false;
    return true;
  };
  return *std::ranges::find_if(kEarlyPercents, is_alike);
}

}  // namespace

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
  auto const& moves = strategy.moves;
  auto room_bytes = strategy.host_bytes;
  auto const apply = [&](Move const& move) {
    auto const bytes = move.bytes + gradient_bytes_beside(move, strategy);
    bool const fits = !moves.drive_only && bytes <= room_bytes;
    if (fits) room_bytes -= bytes;
    auto& place = plan.chunks[move.chunk].*move.place;
    place = fits || m_budgets.nvme_bytes == 0 ? Tier::host : Tier::nvme;
  };
  for (bool const of_parameters : {moves.parameters_near, !moves.parameters_near}) {
    int const count = of_parameters ? moved_parameters(moves) : moved_optimizers(moves);
    for (int i = 0; i < count; ++i)
      apply(of_parameters ? move_parameters(i, strategy) : move_optimizer(i, strategy));
  }
  settle(plan, strategy);
  return plan;
}

Shard StrategySpace::shard(int chunk, Strategy const& strategy) const {
  int const persistent = std::min(strategy.persistent, shared());
  bool const is_persistent =
      persistent > 0 && m_open.chunks[chunk].shard && chunk <= m_shared[persistent - 1];
  return is_persistent ? Shard::gradients : m_open.plan.chunks[chunk].shard;
}

int StrategySpace::moved_optimizers(StateMoves const& moves) const {
  int const before = moves.parameters_first ? parameters() : 0;
  return std::clamp(moves.count - before, 0, optimizers());
}

int StrategySpace::moved_parameters(StateMoves const& moves) const {
  int const before = moves.parameters_first ? 0 : optimizers();
  return std::clamp(moves.count - before, 0, parameters());
}

StrategySpace::Move StrategySpace::move_optimizer(int number, Strategy const& strategy) const {
  int const c = m_optimizer[strategy.moves.from_back ? optimizers() - 1 - number : number];
  return {c, &ChunkPlan::optimizer, cost(c, strategy).optimizer_bytes};
}

StrategySpace::Move StrategySpace::move_parameters(int number, Strategy const& strategy) const {
  bool const from_back = strategy.moves.parameters_from_back;
  int const c = m_parameters[from_back ? parameters() - 1 - number : number];
  return {c, &ChunkPlan::parameters, cost(c, strategy).home_bytes};
}

StrategySpace::Move StrategySpace::move(int number, Strategy const& strategy) const {
  bool const first = strategy.moves.parameters_first;
  int const of_first = first ? parameters() : optimizers();
  int const i = number < of_first ? number : number - of_first;
  return (number < of_first) == first ? move_parameters(i, strategy) : move_optimizer(i, strategy);
}

ChunkCost const& StrategySpace::cost(int chunk, Strategy const& strategy) const {
  auto const& costs = m_estimator.model().shared_by(m_open.plan.sharers);
  return costs[shard(chunk, strategy)][chunk];
}

bool StrategySpace::may_sum_on_drive(int chunk) const {
  auto const& model = m_estimator.model();
  return m_open.chunks[chunk].gradients && !model.reduces_each &&
         model.chunks[chunk].parts.empty() && model.chunks[chunk].trainable;
}

std::int64_t StrategySpace::gradient_bytes_beside(Move const& move,
                                                  Strategy const& strategy) const {
  auto const& moves = strategy.moves;
  bool const may_leave = moves.sums == Sums::drive && move.place == &ChunkPlan::optimizer &&
                         may_sum_on_drive(move.chunk);
  bool const on_host = !m_open.plan.unified && !moves.device_updates;
  return may_leave && on_host ? cost(move.chunk, strategy).held_gradient_bytes : 0;
}

// Decides where updates run, whether there is redo, how many updates are early, and where gradients
// lie.
void StrategySpace::settle(Plan& plan, Strategy const& strategy) const {
  auto const& moves = strategy.moves;
  bool const other_memory = !plan.unified && m_budgets.host_bytes > 0;
  for (int c = 0; c < std::ssize(plan.chunks); ++c) {
    auto& places = plan.chunks[c];
    auto const& open = m_open.chunks[c];
    bool const on_device = moves.device_updates || places.optimizer == Tier::device;
    if (open.update) places.update = on_device ? Tier::device : Tier::host;
    bool const on_host = places.update == Tier::host;
    bool const at_update = moves.sums == Sums::at_update || moves.sums == Sums::drive;
    bool const sums_on_host = at_update ? on_host : moves.sums == Sums::host;
    if (open.gradients) places.gradients = other_memory && sums_on_host ? Tier::host : Tier::device;
    if (moves.sums == Sums::drive && places.optimizer == Tier::nvme && may_sum_on_drive(c))
      places.gradients = Tier::nvme;
  }
  plan.redo = updates_come_last(plan, m_open.norm_is_awaited);
  plan.early = plan.redo ? 100 : m_open.early.value_or(first_alike(strategy.early, plan));
}

std::vector<StateMoves> StrategySpace::ways_to_move() const {
  if (m_open.sums_on_drive) return {{.sums = Sums::drive}};
  std::vector<StateMoves> ways;
  for (bool const parameters_first : {false, true}) {
    StateMoves way{.parameters_first = parameters_first};
    if (parameters_first && (optimizers() == 0 || parameters() == 0)) continue;
    ways.push_back(way);
    Strategy all;
    all.moves = way;
    all.moves.count = most_moves();
    for (Sums const sums : other_sums(all)) {
      way.sums = sums;
      ways.push_back(way);
    }
  }
  return ways;
}

std::vector<Sums> StrategySpace::other_sums(Strategy const& strategy) const {
  std::vector<Sums> result;
  std::vector plans = {plan_of(strategy)};
  auto other = strategy;
  for (Sums const sums : {Sums::at_update, Sums::device, Sums::host, Sums::drive}) {
    if (sums == Sums::drive && !m_open.sums_on_drive) continue;
    other.moves.sums = sums;
    auto plan = plan_of(other);
    if (std::ranges::count(plans, plan) > 0) continue;
    result.push_back(sums);
    plans.push_back(std::move(plan));
  }
  return result;
}

bool StrategySpace::may_put_off(Strategy const& strategy) const {
  return !m_open.early && !m_open.norm_is_awaited && !plan_of(strategy).redo;
}

bool StrategySpace::may_begin_with_either(Strategy const& strategy) const {
  return strategy.moves.count > 0 && strategy.moves.count < most_moves() && optimizers() > 0 &&
         parameters() > 0;
}

bool StrategySpace::shares_host_room(Strategy const& strategy) const {
  auto const& moves = strategy.moves;
  bool const two_tiers = m_budgets.host_bytes > 0 && m_budgets.nvme_bytes > 0;
  return two_tiers && !moves.drive_only && moved_optimizers(moves) > 0 &&
         moved_parameters(moves) > 0;
}

void StrategySpace::find_room(Strategy& strategy) const {
  strategy.host_bytes = 0;
  if (strategy.moves.count == 0 || m_budgets.host_bytes == 0) return;
  auto to_drive = strategy;  // a copy without room on the host, whose state goes to the drive
  to_drive.moves.count = moved_optimizers(strategy.moves);
  to_drive.moves.parameters_first = false;
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
    if (fails < optimizers() && !strategy.moves.parameters_first)
      guess = std::min(guess, optimizers());
    int const at = tries % 4 == 0 ? (fails + does) / 2 : std::clamp(guess, fails + 1, does - 1);
    strategy.moves.count = at;
    auto const bytes = peaks(strategy)[Tier::device];
    (bytes <= m_budgets.device_bytes ? does : fails) = at;
    guess = moves_for(bytes - m_budgets.device_bytes, strategy);
  }
  return does;
}

}  // namespace spillway
