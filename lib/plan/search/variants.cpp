#include "base/math.hpp"
#include "plan/search/pool.hpp"

namespace spillway {
namespace {

class Variants {
 public:
  explicit Variants(CandidatePool& pool) : m_pool(pool), m_space(pool.space()) {}

  void try_all(Candidate const& best) {
    try_persistent(best.strategy);
    try_longer_prefetches(best);
    try_early(best.strategy);
    try_leaving(best.strategy);
    if (best.strategy.moves.count == 0) return;
    try_other_updates(best.strategy);
    try_other_order(best.strategy);
    try_other_ends(best.strategy);
  }

 private:
  // A longer prefetch needs room on the device, so more state moves.
  void try_longer_prefetches(Candidate const& found) {
    if (!m_pool.open().prefetch || !brings_anything_ahead(found.plan)) return;
    auto strategy = found.strategy;
    for (int const prefetch : {2, 4}) {
      if (prefetch <= found.strategy.prefetch) continue;
      strategy.prefetch = prefetch;
      m_pool.move_until_it_fits(strategy);
      m_pool.try_and_time(strategy);
    }
  }

  // Updates that are put off leave the host to those that the next forward pass needs first.
  void try_early(Strategy strategy) {
    if (!m_space.may_put_off(strategy)) return;
    for (auto const early : kEarlyPercents) {
      strategy.early = early;
      m_pool.try_and_time(strategy);
    }
  }

  // Optimizer state that could stay may leave all the same: the host then updates beside the
  // passes.
  void try_leaving(Strategy strategy) {
    if (m_pool.open().plan.unified || m_pool.budgets().host_bytes == 0) return;
    constexpr int parts = 4;
    auto const least = strategy.moves.count;
    for (Sums const sums : {Sums::at_update, Sums::device}) {
      strategy.moves.sums = sums;
      for (int part = 1; part <= parts; ++part) {
        strategy.moves.count = div_ceil(m_space.optimizers() * part, parts);
        if (strategy.moves.count <= least) continue;
        m_space.find_room(strategy);
        m_pool.try_and_time(strategy);
      }
    }
  }

  // Persistent chunks are sent only once a step, but leave less room for other state.
  void try_persistent(Strategy strategy) {
    constexpr int parts = 4;
    int const count = strategy.moves.count;
    for (int part = 1; part <= parts && m_space.shared() > 0; ++part) {
      strategy.persistent = div_ceil(m_space.shared() * part, parts);
      strategy.moves.count = 0;
      if (m_pool.try_and_time(strategy) || m_space.most_moves() == 0) continue;
      strategy.moves.count = count;
      m_pool.move_until_it_fits(strategy);
      m_pool.try_and_time(strategy);
    }
  }

  // The device updates what has moved.
  void try_other_updates(Strategy strategy) {
    strategy.moves = {.count = strategy.moves.count, .device_updates = true};
    try_more_counts(strategy);
    strategy.moves.sums = Sums::host;
    try_more_counts(strategy);
  }

  // Other state gets room first, or gradients are summed up elsewhere.
  void try_other_order(Strategy const& found) {
    auto strategy = found;
    if (m_space.shares_host_room(found)) {
      strategy.moves.parameters_near = !found.moves.parameters_near;
      try_counts(strategy);
    }
    if (m_space.may_begin_with_either(found)) {
      strategy.moves = found.moves;
      strategy.moves.parameters_first = !found.moves.parameters_first;
      try_more_counts(strategy);
    }
    for (Sums const sums : m_space.other_sums(found)) {
      strategy.moves = found.moves;
      strategy.moves.sums = sums;
      try_more_counts(strategy);
    }
  }

  // State leaves from the other end, or to the drive alone.
  void try_other_ends(Strategy const& found) {
    auto const& budgets = m_pool.budgets();
    bool const two_tiers = budgets.host_bytes > 0 && budgets.nvme_bytes > 0;
    auto strategy = found;
    for (bool const drive_only : {false, true}) {
      if (drive_only && !two_tiers) continue;
      for (bool const from_back : {true, false}) {
        for (bool const parameters_from_back : {true, false}) {
          if (m_space.moved_parameters(found.moves) == 0 && !parameters_from_back) continue;
          strategy.moves = found.moves;
          strategy.moves.from_back = from_back;
          strategy.moves.parameters_from_back = parameters_from_back;
          strategy.moves.drive_only = drive_only;
          try_counts(strategy);
        }
      }
    }
  }

  // Tries counts from the fewest on with which the plan fits.
  void try_more_counts(Strategy strategy) {
    m_pool.move_until_it_fits(strategy);
    try_counts(strategy);
  }

  void try_counts(Strategy strategy) {
    int const count = strategy.moves.count;
    int const of_first =
        strategy.moves.parameters_first ? m_space.parameters() : m_space.optimizers();
    for (int const moves : {count, count + 1, count + 2, of_first}) {
      strategy.moves.count = moves;
      if (moves < count || moves > m_space.most_moves()) continue;
      m_space.find_room(strategy);
      m_pool.try_and_time(strategy);
    }
  }

  CandidatePool& m_pool;
  StrategySpace const& m_space;
};

}  // namespace

void try_variants(CandidatePool& pool) {
  Variants variants(pool);
  for (Candidate const& best : pool.best_found(pool.most_families(), 1, family_of))
    variants.try_all(best);
}

}  // namespace spillway
