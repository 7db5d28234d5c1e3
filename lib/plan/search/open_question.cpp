#include "plan/search/open_question.hpp"

#include <stdexcept>
#include <utility>

namespace spillway {

OpenPlan open_for(PlanQuestion const& question) {
  auto open = open_plan(question.train, question.request, question.machine.is_unified());
  if (question.request.shard_ranks == ShardRanks::node) {
    open.plan.sharers = question.sharers_of_nodes();
    if (open.plan.sharers == 0)
      throw std::invalid_argument(
          "plan.shard_ranks: node: nodes do not all have as many ranks, with numbers that follow "
          "each other; give all or auto");
  }
  open.plan = for_ranks(std::move(open.plan), question.ranks);
  if (sharers_of(open.plan, question.ranks) == 1)
    for (OpenChunk& chunk : open.chunks) chunk.shard = false;
  return open;
}

BlockModel model_for(PlanQuestion const& question, OpenPlan const& open) {
  auto const policies = policies_within(open, question.budgets);
  std::vector sharers = {sharers_of(open.plan, question.ranks)};
  if (auto const of_nodes = question.open_sharers_of_nodes(); of_nodes > 0)
    sharers.push_back(of_nodes);
  return block_model(question.train, question.machine, policies, question.ranks, sharers);
}

bool share_out_what_is_open(OpenPlan& open, Shard shard) {
  bool is_anywhere = false;
  for (int c = 0; c < std::ssize(open.chunks); ++c) {
    if (!open.chunks[c].shard) continue;
    open.plan.chunks[c].shard = shard;
    is_anywhere = true;
  }
  return is_anywhere;
}

}  // namespace spillway
