#include "plan/search/near_plans.hpp"

#include <algorithm>
#include <utility>

#include "plan/search/strategy.hpp"

namespace spillway {

// State on the device is updated there, and where updates begin early as many do as was asked.
void settle(Graph const& graph, OpenPlan const& open, Plan& plan) {
  for (int c = 0; c < std::ssize(plan.chunks); ++c) {
    auto& places = plan.chunks[c];
    if (open.chunks[c].update && places.optimizer == Tier::device) places.update = Tier::device;
  }
  normalise(graph, plan);
  plan.redo = updates_come_last(plan, open.norm_is_awaited);
  if (plan.redo)
    plan.early = 100;
  else if (open.early)
    plan.early = *open.early;
}

NearPlans::NearPlans(PlanQuestion const& question, OpenPlan const& open)
    : m_question(question), m_open(open), m_ways(ways_to_treat(open, question.budgets)) {
  for (int b = 0; b < std::ssize(open.layers); ++b)
    if (open.layers[b]) m_layers.push_back(b);
}

std::vector<Plan> NearPlans::around(Plan const& plan) {
  m_plan = &plan;
  m_result.clear();
  m_seen = {hash_of(plan)};
  change_layers();
  for (int c = 0; c < std::ssize(plan.chunks); ++c) change_chunk(c);
  change_all_chunks();
  change_walk();
  return std::move(m_result);
}

void NearPlans::add(Plan plan) {
  settle(m_question.train, m_open, plan);
  if (m_seen.insert(hash_of(plan)).second) m_result.push_back(std::move(plan));
}

void NearPlans::change_layers() {
  constexpr std::size_t few = 8;
  auto near = *m_plan;
  for (int const layer : m_layers) {
    auto const before = near.blocks[layer];
    for (BlockPlan const& way : m_ways) {
      near.blocks[layer] = way;
      add(near);
    }
    near.blocks[layer] = before;
  }
  if (m_layers.size() > few) return;
  for (std::size_t a = 0; a < m_layers.size(); ++a) {
    for (std::size_t b = a + 1; b < m_layers.size(); ++b) {
      near = *m_plan;
      std::swap(near.blocks[m_layers[a]], near.blocks[m_layers[b]]);
      add(near);
    }
  }
}

// Optimizer state may take its chunk's update along, and its gradient.
void NearPlans::move_optimizer(int chunk, Tier tier) {
  auto near = *m_plan;
  auto& places = near.chunks[chunk];
  places.optimizer = tier;
  add(near);
  auto const [may_update, may_sum] =
      std::pair(m_open.chunks[chunk].update, m_open.chunks[chunk].gradients && has_other_memory());
  for (Tier const lane : {Tier::device, Tier::host}) {
    if (may_update) places.update = lane;
    add(near);
    if (!may_sum || places.gradients == Tier::nvme) continue;
    auto with_sum = near;
    with_sum.chunks[chunk].gradients = lane;
    add(std::move(with_sum));
  }
}

void NearPlans::change_chunk(int chunk) {
  auto const& open = m_open.chunks[chunk];
  auto const add_with = [&]<class T>(T ChunkPlan::*place, T value) {
    auto near = *m_plan;
    near.chunks[chunk].*place = value;
    add(std::move(near));
  };
  for (Tier const tier : kTiersInOrder) {
    if (!may_hold(tier)) continue;
    if (open.optimizer) move_optimizer(chunk, tier);
    if (open.parameters) add_with(&ChunkPlan::parameters, tier);
  }
  for (Tier const tier : {Tier::device, Tier::host}) {
    if (open.update) add_with(&ChunkPlan::update, tier);
    bool const on_drive = m_plan->chunks[chunk].gradients == Tier::nvme;
    if (open.gradients && has_other_memory() && !on_drive) add_with(&ChunkPlan::gradients, tier);
  }
  if (!open.shard || m_plan->chunks[chunk].shard == Shard::none) return;
  for (Shard const shard : {Shard::gradients, Shard::all})
    if (may_share_out(shard)) add_with(&ChunkPlan::shard, shard);
}

// Applies `change` to every chunk and to what of it is open, and adds the plan.
template <class Change>
void NearPlans::add_all(Change const& change) {
  auto near = *m_plan;
  for (int c = 0; c < std::ssize(near.chunks); ++c) change(near.chunks[c], m_open.chunks[c]);
  add(std::move(near));
}

void NearPlans::change_all_chunks() {
  for (Tier const tier : kTiersInOrder) {
    if (!may_hold(tier)) continue;
    add_all([&](ChunkPlan& it, OpenChunk const& open) {
      if (open.parameters) it.parameters = tier;
    });
    add_all([&](ChunkPlan& it, OpenChunk const& open) {
      if (open.optimizer) it.optimizer = tier;
    });
  }
  for (Tier const lane : {Tier::device, Tier::host}) {
    for (bool const with_sum : {false, true}) {
      add_all([&](ChunkPlan& it, OpenChunk const& open) {
        if (open.update) it.update = lane;
        if (with_sum && open.gradients && has_other_memory()) it.gradients = lane;
      });
    }
    if (!has_other_memory()) continue;
    add_all([&](ChunkPlan& it, OpenChunk const& open) {
      if (open.gradients) it.gradients = lane;
    });
  }
  if (m_question.ranks == 1) return;
  for (Shard const shard : {Shard::none, Shard::gradients, Shard::all}) {
    if (!may_share_out(shard)) continue;
    add_all([&](ChunkPlan& it, OpenChunk const& open) {
      if (open.shard) it.shard = shard;
    });
  }
}

void NearPlans::change_walk() {
  auto near = *m_plan;
  for (int const prefetch : {m_plan->prefetch / 2, 2 * m_plan->prefetch}) {
    near.prefetch = prefetch;
    if (m_open.prefetch && 1 <= prefetch && prefetch <= kLongestPrefetch) add(near);
  }
  near = *m_plan;
  auto const most = std::min(m_open.most_group, m_question.micro_batches);
  for (auto const group : {m_plan->group / 2, std::min(2 * m_plan->group, most)}) {
    near.group = group;
    if (m_open.group && group >= 1) add(near);
  }
  near = *m_plan;
  for (auto const early : kEarlyPercents) {
    near.early = early;
    if (!m_plan->redo && !m_open.early) add(near);
  }
  near = *m_plan;
  near.exchanges_overlap = !near.exchanges_overlap;
  if (m_question.ranks > 1 && !near.unified) add(near);
}

}  // namespace spillway
