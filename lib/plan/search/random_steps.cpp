#include "plan/search/random_steps.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "plan/search/activation_mix.hpp"
#include "plan/search/near_plans.hpp"
#include "plan/search/strategy.hpp"

namespace spillway {
namespace {

constexpr std::array kLanesOfUpdates = {Tier::device, Tier::host};
constexpr std::array kSharedParts = {Shard::gradients, Shard::all};
constexpr std::array kTriedShards = {Shard::none, Shard::gradients, Shard::all};

}  // namespace

RandomSteps::RandomSteps(PlanQuestion const& question, OpenPlan const& open)
    : m_question(question), m_open(open), m_ways(ways_to_treat(open, question.budgets)) {
  for (int b = 0; b < std::ssize(open.layers); ++b)
    if (open.layers[b]) m_layers.push_back(b);
}

Plan const& RandomSteps::from(Plan const& plan) {
  constexpr int of_layers = 40, of_chunks = 52;  // of a hundred steps
  m_plan = plan;
  auto const kind = below(100);
  if (kind < of_layers && !m_layers.empty())
    change_layers();
  else if (kind < of_layers + of_chunks)
    change_chunks();
  else
    change_walk();
  settle(m_question.train, m_open, m_plan);
  return m_plan;
}

// Has one layer, or all from one to another, treat activations in one way, or exchanges two.
void RandomSteps::change_layers() {
  auto const [a, b] = std::minmax({any_of(m_layers), any_of(m_layers)});
  auto const& way = any_of(m_ways);
  switch (below(4)) {
    case 0:
      return std::swap(m_plan.blocks[a], m_plan.blocks[b]);
    case 1:
      for (int const layer : m_layers)
        if (a <= layer && layer <= b) m_plan.blocks[layer] = way;
      return;
    default:
      m_plan.blocks[any_of(m_layers)] = way;
  }
}

// Exchanges the places of two chunks, gives one those of another, or changes something about one,
// and now and then gives the result to all chunks from that one to another.
void RandomSteps::change_chunks() {
  auto const chunks = m_plan.chunks.size();
  auto const a = below(chunks), b = below(chunks);
  auto places = m_plan.chunks[a];
  switch (below(8)) {
    case 0:
      set(a, m_plan.chunks[b]);
      return set(b, places);
    case 1:
      return set(b, places);
    default:
      change_places(places);
  }
  if (!one_in(4)) return set(a, places);
  auto const [first, last] = std::minmax({a, b});
  for (int c = first; c <= last; ++c) set(c, places);
}

void RandomSteps::change_places(ChunkPlan& places) {
  auto const tier = any_of(kTiersInOrder);
  auto const lane = any_of(kLanesOfUpdates);
  bool const may_sum = !m_plan.unified && may_hold(Tier::host);
  switch (below(6)) {
    case 0:
    case 1:
      if (may_hold(tier)) places.optimizer = tier;
      places.update = lane;
      if (may_sum && one_in(2)) places.gradients = lane;
      return;
    case 2:
      if (may_hold(tier)) places.parameters = tier;
      return;
    case 3:
      if (may_sum) places.gradients = lane;
      return;
    case 4:
      if (!may_hold(tier)) return;
      places.parameters = places.optimizer = tier;
      places.update = tier == Tier::nvme ? lane : tier;
      if (may_sum) places.gradients = places.update;
      return;
    default: {
      places.update = lane;
      auto const shard = any_of(kSharedParts);
      if (places.shard != Shard::none && may_share_out(shard) && one_in(2)) places.shard = shard;
    }
  }
}

// Sets what is open of a chunk's places. Whether sums of gradients lie on the drive is not.
void RandomSteps::set(int chunk, ChunkPlan const& places) {
  auto const& open = m_open.chunks[chunk];
  auto& to = m_plan.chunks[chunk];
  if (open.parameters) to.parameters = places.parameters;
  if (open.optimizer) to.optimizer = places.optimizer;
  if (open.update) to.update = places.update;
  bool const on_drive = to.gradients == Tier::nvme || places.gradients == Tier::nvme;
  if (open.gradients && !on_drive) to.gradients = places.gradients;
  if (open.shard) to.shard = places.shard;
}

void RandomSteps::change_walk() {
  auto const half_or_twice = [&](auto value) { return one_in(2) ? value / 2 : 2 * value; };
  switch (below(5)) {
    case 0: {
      auto const prefetch = half_or_twice(m_plan.prefetch);
      if (m_open.prefetch && 1 <= prefetch && prefetch <= kLongestPrefetch)
        m_plan.prefetch = prefetch;
      return;
    }
    case 1: {
      auto const most = std::min(m_open.most_group, m_question.micro_batches);
      auto const group = std::min(half_or_twice(m_plan.group), most);
      if (m_open.group && group >= 1) m_plan.group = group;
      return;
    }
    case 2:
      if (!m_plan.redo && !m_open.early) m_plan.early = any_of(kEarlyPercents);
      return;
    case 3:
      if (m_question.ranks > 1 && !m_plan.unified) m_plan.exchanges_overlap ^= true;
      return;
    default: {
      auto const shard = any_of(kTriedShards);
      if (!may_share_out(shard)) return;
      for (int c = 0; c < std::ssize(m_plan.chunks); ++c)
        if (m_open.chunks[c].shard) m_plan.chunks[c].shard = shard;
    }
  }
}

}  // namespace spillway
