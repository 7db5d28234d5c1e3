// A Strategy says in a few numbers how a Plan saves device memory. A search varies the numbers.
#pragma once

#include <array>
#include <vector>

#include "plan/search/activation_mix.hpp"
#include "plan/search/estimate.hpp"

namespace spillway {

// Says in which memory gradients are summed up: where their chunk is updated, always on the device,
// from which they then go once a step and not once a micro-batch, or always on the host. With
// `drive` those of chunks whose optimizer state lies on the drive have their home beside it, and
// the others are summed up where their chunk is updated.
enum class Sums : std::uint8_t { at_update, device, host, drive };

// StateMoves says which chunks' state has its home off the device.
struct StateMoves {
  bool from_back = true, parameters_from_back = true;  // if false, the first chunks move first
  bool drive_only = false;  // if false, state goes to the host tier while that tier has room
  int count = 0;            // number of moves, each of one chunk's optimizer state or parameters
  // If false, the host lane updates the chunks whose optimizer state has moved.
  bool device_updates = false;
  // If true, the host tier's room goes to parameters first, which groups of micro-batches read
  // again and again, and what is left of it to optimizer state, which moves once a step.
  bool parameters_near = true;
  Sums sums = Sums::at_update;
  // If false, parameters move only after all optimizer state has moved; if true, before it.
  bool parameters_first = false;
};

// The search tries these numbers of early updates in a hundred.
inline constexpr std::array<std::int64_t, 7> kEarlyPercents = {100, 80, 65, 50, 35, 20, 0};

struct Strategy {
  ActivationMix mix;
  std::vector<BlockPlan> own = {};  // the treatment of each open layer; if empty, the mix decides
  StateMoves moves = {};
  int prefetch = kShortestPrefetch;
  std::int64_t group = 1;    // how many micro-batches walk together
  std::int64_t early = 100;  // how many updates in a hundred are early (see Plan::early)
  // How many chunks keep all parameters on each rank although the open plan shares them out: the
  // persistent chunks of ProTrain (arXiv 2406.08334, section 3.1), the first ones in order.
  int persistent = 0;
  std::int64_t host_bytes = 0;  // the most bytes of the host tier that moved state may take
};

// Says whether the plan's prefetch matters.
bool brings_anything_ahead(Plan const& plan);

// A StrategySpace contains all strategies for the open choices of a Plan.
class StrategySpace {
 public:
  // The estimator and the open plan must outlive this object.
  StrategySpace(Estimator const& estimator, OpenPlan const& open, Budgets const& budgets);

  Estimator const& estimator() const { return m_estimator; }
  OpenPlan const& open() const { return m_open; }
  Budgets const& budgets() const { return m_budgets; }
  // Returns the number of layers whose policy is left to the search.
  int layers() const { return static_cast<int>(m_layers.size()); }
  // These functions return how many moves of optimizer state, of parameters and in all are
  // possible.
  int optimizers() const { return static_cast<int>(m_optimizer.size()); }
  int parameters() const { return static_cast<int>(m_parameters.size()); }
  int most_moves() const { return optimizers() + parameters(); }
  // Returns of how many chunks optimizer state, or parameters, have moved.
  int moved_optimizers(StateMoves const& moves) const;
  int moved_parameters(StateMoves const& moves) const;
  // Returns the number of chunks that may become persistent.
  int shared() const { return static_cast<int>(m_shared.size()); }

  Plan plan_of(Strategy const& strategy) const;
  TierBytes peaks(Strategy const& strategy) const { return m_estimator.peaks(plan_of(strategy)); }
  // Returns the ways to move state, as moves of which none has been made yet: with which of it they
  // begin, and where gradients are summed up. If they may lie on the drive, that is the only way.
  std::vector<StateMoves> ways_to_move() const;
  // Returns in which other memories gradients could be summed up, with another plan each.
  std::vector<Sums> other_sums(Strategy const& strategy) const;
  // Says whether it matters how many updates are early.
  bool may_put_off(Strategy const& strategy) const;
  // Says whether it matters if parameters move before optimizer state does, and if they get room on
  // the host before it.
  bool may_begin_with_either(Strategy const& strategy) const;
  bool shares_host_room(Strategy const& strategy) const;
  // Sets `host_bytes` to what activations and gradients leave free of the host tier's budget.
  void find_room(Strategy& strategy) const;
  // Guesses how many moves free `device_bytes` more bytes of the device than the strategy does, or
  // fewer bytes if `device_bytes` is negative.
  int moves_for(std::int64_t device_bytes, Strategy const& strategy) const;
  // Returns the fewest moves with which a plan fits on the device, or most_moves() if none does.
  int fewest_moves(Strategy strategy, int guess) const;
  // Returns strategies that differ from `strategy` in one thing: the policy of one layer (if layers
  // are few), the mix or the layers that follow it, one move of state, whether moves
  // begin with the first or the last chunk, and with optimizer state or parameters, what gets room
  // on the host first, where updates run and gradients are summed up, which chunks are persistent,
  // prefetch or group.
  std::vector<Strategy> neighbours(Strategy const& strategy) const;

 private:
  struct Move {
    int chunk;
    Tier ChunkPlan::*place;
    std::int64_t bytes;
  };
  Move move_optimizer(int number, Strategy const& strategy) const;
  Move move_parameters(int number, Strategy const& strategy) const;
  Move move(int number, Strategy const& strategy) const;
  Shard shard(int chunk, Strategy const& strategy) const;
  ChunkCost const& cost(int chunk, Strategy const& strategy) const;
  // Returns the bytes of host memory that a chunk's gradients take if its optimizer state lies
  // there, where they would lie on the drive beside it.
  std::int64_t gradient_bytes_beside(Move const& move, Strategy const& strategy) const;
  bool may_sum_on_drive(int chunk) const;
  void settle(Plan& plan, Strategy const& strategy) const;
  void add_other_early(Strategy const& strategy, std::vector<Strategy>& to) const;
  void add_other_persistent(Strategy const& strategy, std::vector<Strategy>& to) const;
  void add_other_moves(Strategy const& strategy, std::vector<Strategy>& to) const;
  std::vector<BlockPlan> layers_of(Strategy const& strategy) const;
  void add_other_layers(Strategy const& strategy, std::vector<Strategy>& to) const;

  Estimator const& m_estimator;
  OpenPlan const& m_open;
  Budgets m_budgets;
  IdVector<int> m_layers;                   // the block numbers of the open layers
  IdVector<int> m_optimizer, m_parameters;  // chunks whose tier the search may choose
  IdVector<int> m_shared;                   // chunks of which the search may make persistent ones
};

}  // namespace spillway
