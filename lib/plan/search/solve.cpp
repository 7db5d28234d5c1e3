#include "plan/search/solve.hpp"

#include <algorithm>

#include "plan/search/needs.hpp"
#include "plan/search/open_question.hpp"
#include "plan/search/search.hpp"
#include "plan/search/searches.hpp"

namespace spillway {

std::int64_t PlanQuestion::sharers_of_nodes() const {
  auto const on_node = std::min(ranks, machine.node_ranks);
  return nodes_alike && ranks % on_node == 0 ? on_node : 0;
}

std::int64_t PlanQuestion::open_sharers_of_nodes() const {
  auto const sharers = sharers_of_nodes();
  return !request.shard_ranks && sharers > 1 && sharers < ranks ? sharers : 0;
}

Solution solve(PlanQuestion const& question) {
  check_limits(question.train, question.micro_batches);
  check_uneven(question.train, question.request.shard, question.fewer);
  auto const open = open_for(question);
  auto const model = model_for(question, open);
  return search_all_ways(question, open, {model, question.machine, question.micro_batches});
}

Outlook outlook(PlanQuestion const& question) {
  check_limits(question.train, question.micro_batches);
  check_uneven(question.train, question.request.shard, question.fewer);
  auto open = open_for(question);
  open.group = false;
  auto const model = model_for(question, open);
  Estimator const estimator(model, question.machine, question.micro_batches);
  auto const peaks = estimator.peaks(open.plan);
  if (fits(peaks, question.budgets))
    return {true, peaks, estimator.step_s(open.plan), true, open.plan};
  auto found = search(estimator, open, question.budgets);
  auto const most_shared = question.may_gather() ? Shard::all : Shard::gradients;
  if (found.fitting.empty() && share_out_what_is_open(open, most_shared))
    found = search(estimator, open, question.budgets);
  open.sums_on_drive = question.budgets.nvme_bytes > 0;
  if (found.fitting.empty() && open.sums_on_drive)
    found = search(estimator, open, question.budgets);
  bool const fits = !found.fitting.empty();
  auto const& best = fits ? found.fitting.front() : found.leanest.front();
  return {fits, best.peaks, estimator.step_s(best.plan), false, best.plan};
}

std::vector<PlanEstimate> estimates(PlanQuestion const& question, std::vector<Plan> const& plans) {
  auto const open = open_for(question);
  auto const model = model_for(question, open);
  Estimator const estimator(model, question.machine, question.micro_batches);
  std::vector<PlanEstimate> result;
  for (Plan const& plan : plans) result.push_back({estimator.peaks(plan), estimator.step_s(plan)});
  return result;
}

double simulated_step_s(PlanQuestion const& question, Plan const& plan) {
  return simulated_step(question, plan).step_s;
}

}  // namespace spillway
