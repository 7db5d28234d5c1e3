#include "plan/search/other_choices.hpp"

#include <algorithm>
#include <utility>

#include "plan/data/open_plan.hpp"
#include "plan/schedule/streaming.hpp"
#include "plan/search/strategy.hpp"

namespace spillway {
namespace {

class OtherChoices {
 public:
  OtherChoices(PlanQuestion const& question, Plan const& plan)
      : m_question(question),
        m_plan(plan),
        m_open(open_plan(question.train, question.request, question.machine.is_unified())) {}

  std::vector<OtherPlan> all() {
    add_activations();
    add_state(&OpenChunk::optimizer, &ChunkPlan::optimizer,
              {"optimizer state on the device", "plan.optimizer=device"},
              {"optimizer state in host memory", "plan.optimizer=host"});
    add_state(&OpenChunk::parameters, &ChunkPlan::parameters,
              {"parameters on the device", "plan.parameters=device"},
              {"parameters in host memory", "plan.parameters=host"});
    add_updates();
    add_walks();
    add_sharing();
    add_no_clipping();
    return std::move(m_all);
  }

 private:
  struct Name {
    std::string_view words, key;
  };

  void add(Name const& name, Plan plan) {
    normalise(m_question.train, plan);
    plan.redo = updates_come_last(plan, plan.redo);
    if (plan.redo) plan.early = 100;
    if (plan != m_plan) m_all.push_back({name.words, name.key, std::move(plan)});
  }

  // Changes each open layer of the plan as `change` does, and adds the plan if any has changed.
  template <class Change>
  void add_layers(Name const& name, Change const& change) {
    auto plan = m_plan;
    for (int b = 0; b < std::ssize(plan.blocks); ++b)
      if (m_open.layers[b]) change(plan.blocks[b]);
    add(name, std::move(plan));
  }

  void add_activations() {
    auto one = m_plan;
    for (auto b = std::ssize(one.blocks); b-- > 0;) {
      if (!m_open.layers[b] || one.blocks[b].policy == BlockPolicy::keep) continue;
      one.blocks[b] = {};
      add({"one layer more kept", "plan.activations"}, std::move(one));
      break;
    }
    add_layers({"no layer recomputes", "plan.activations=keep"}, [](BlockPlan& block) {
      if (row(block.policy).repeats == Repeats::nothing) return;
      auto const away = away_tier(block.policy);
      block.policy = away ? spilling_to(*away, BlockPolicy::keep) : BlockPolicy::keep;
    });
    add_layers({"recompute instead of spilling", "plan.activations=recompute"},
               [](BlockPlan& block) {
                 if (away_tier(block.policy)) block = {BlockPolicy::recompute, 1};
               });
  }

  // Updates on the device come with state there, as the search has it.
  void add_state(bool OpenChunk::*is_open, Tier ChunkPlan::*place, Name const& device,
                 Name const& host) {
    auto near = m_plan, nearer = m_plan;
    bool any_near = false;
    for (int c = 0; c < std::ssize(m_plan.chunks); ++c) {
      if (!(m_open.chunks[c].*is_open)) continue;
      if (near.chunks[c].*place == Tier::nvme && m_question.budgets.host_bytes > 0) {
        near.chunks[c].*place = Tier::host;
        any_near = true;
      }
      bool const moves = nearer.chunks[c].*place != Tier::device;
      nearer.chunks[c].*place = Tier::device;
      if (moves && place == &ChunkPlan::optimizer) update_on_device(nearer, c);
    }
    if (any_near)
      add(host, std::move(near));
    else
      add(device, std::move(nearer));
  }

  void update_on_device(Plan& plan, int chunk) const {
    if (m_open.chunks[chunk].update) plan.chunks[chunk].update = Tier::device;
    if (m_open.chunks[chunk].gradients && plan.chunks[chunk].update == Tier::device)
      plan.chunks[chunk].gradients = Tier::device;
  }

  void add_updates() {
    auto device = m_plan, host = m_plan;
    for (int c = 0; c < std::ssize(m_plan.chunks); ++c) {
      if (m_plan.chunks[c].update == Tier::host) update_on_device(device, c);
      bool const is_away = m_plan.chunks[c].optimizer != Tier::device;
      if (is_away && m_open.chunks[c].update) host.chunks[c].update = Tier::host;
    }
    add({"updates on the device", "plan.update=device"}, std::move(device));
    if (!m_open.norm_is_awaited) host.redo = false;
    add({"updates on the host", "plan.update=host"}, std::move(host));
  }

  void add_walks() {
    if (m_open.prefetch && brings_anything_ahead(m_plan)) {
      auto more = m_plan;
      ++more.prefetch;
      add({"fetch one block earlier", "plan.prefetch"}, std::move(more));
    }
    bool const together = m_plan.group > 1;
    if (!m_open.group || m_question.micro_batches == 1) return;
    if (!together && !gains_by_groups(m_plan)) return;
    auto other = m_plan;
    other.group = together ? 1 : 2;
    add(together ? Name{"micro-batches one by one", "plan.group=1"}
                 : Name{"two micro-batches together", "plan.group=2"},
        std::move(other));
  }

  void add_sharing() {
    if (m_question.ranks == 1) return;
    bool const shares = shard_ranks(m_plan).has_value();
    auto other = m_plan;
    for (int c = 0; c < std::ssize(other.chunks); ++c)
      if (m_open.chunks[c].shard) other.chunks[c].shard = shares ? Shard::none : Shard::gradients;
    if (!shares) other.sharers = m_open.plan.sharers;
    other = for_ranks(std::move(other), m_question.ranks);
    add(shares ? Name{"all state on each rank", "plan.shard=none"}
               : Name{"state shared out over ranks", "plan.shard=gradients"},
        std::move(other));
  }

  void add_no_clipping() {
    if (!m_open.norm_is_awaited) return;
    auto plan = m_plan;
    plan.redo = false;
    auto const before = m_all.size();
    add({"without clipping", "optim.clip=0"}, std::move(plan));
    if (m_all.size() > before) m_all.back().gives_up = true;
  }

  PlanQuestion const& m_question;
  Plan const& m_plan;
  OpenPlan m_open;
  std::vector<OtherPlan> m_all;
};

}  // namespace

std::vector<OtherPlan> other_choices(PlanQuestion const& question, Plan const& plan) {
  return OtherChoices(question, plan).all();
}

}  // namespace spillway
