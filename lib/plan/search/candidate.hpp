// A candidate is a Plan with estimates of the bytes and the time that the Plan needs.
#pragma once

#include <tuple>
#include <vector>

#include "plan/search/strategy.hpp"

namespace spillway {

// If predicted times differ by less than this fraction, the plan that moves fewer bytes is better.
inline constexpr double kAlike = 0.002;

struct Candidate {
  Plan plan;
  Strategy strategy;  // the strategy that makes the plan
  TierBytes peaks{};
  double step_s = 0;            // the time of a step, or a lower bound if `timed` is false
  bool timed = false;           // true if the step's time was estimated
  double slower = 1;            // by what factor steps of this kind took longer than estimated
  MovedBytes moved_bytes{};     // known if `timed` is true
  bool wears_too_fast = false;  // true if the plan writes more to the drive than the budget allows

  // Returns the estimated time, longer by as much as steps of this kind took longer than estimated.
  double expected_s() const { return slower * step_s; }
};

// The best candidate has the smallest rank: the class of its time, the bytes that it moves, and the
// time itself.
using Rank = std::tuple<double, MovedBytes, double>;
Rank rank(Candidate const& candidate, double step_s);
bool better(Candidate const& a, Candidate const& b);

// Candidates of one kind treat activations, gradients and updates alike, and differ in how much of
// each. Estimates of their times err alike.
struct Kind {
  std::size_t mix = 0;
  Sums sums = Sums::at_update;
  bool device_updates = false;
  std::int64_t group = 1;
  Shard shard = Shard::none;  // the most that ranks share out of any chunk

  bool operator==(Kind const&) const = default;
};
Kind kind_of(Candidate const& candidate);

// KindErrors holds by what factor steps of compiled plans took longer than estimated, by kind.
class KindErrors {
 public:
  void add(Kind const& kind, double slower);
  // Returns the average of the kind, or 1 if it is less or if no plan of the kind was compiled.
  double slower(Kind const& kind) const;

 private:
  struct Sum {
    Kind kind;
    double slower = 0, count = 0;
  };
  std::vector<Sum> m_sums;
};

// Makes the candidate of a strategy, without an estimate of its step's time.
Candidate make_candidate(Strategy const& strategy, StrategySpace const& space);
void take_time(Candidate& candidate, Estimator const& estimator);
// Says whether the plan writes to the drive faster than the budget allows. Estimates the time of
// its step only if the lower bound `candidate.step_s` would be too short a time for its writes.
bool wears_too_fast(Candidate const& candidate, Estimator const& estimator, Budgets const& budgets);

bool fits(TierBytes const& peaks, Budgets const& budgets);
// Says whether the peaks of the host tier and of the NVMe tier are within their budgets.
bool rest_fits(TierBytes const& peaks, Budgets const& budgets);

// Returns the budgets less `off` bytes, for plans that need `off` bytes more than estimated.
Budgets corrected(Budgets budgets, TierBytes const& off);
// Returns up to two candidates that fit and need less device memory. One moves more state off the
// device, and the other uses a policy that saves memory in more layers.
std::vector<Candidate> smaller(Candidate const& candidate, StrategySpace const& space);
// Returns all candidates that fit and differ from `candidate` in a single choice.
std::vector<Candidate> neighbours(Candidate const& candidate, StrategySpace const& space);

}  // namespace spillway
