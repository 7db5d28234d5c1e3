#include "plan/search/what_if.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "base/checked.hpp"
#include "plan/search/needs.hpp"

namespace spillway {
namespace {

WhatIf twice(WhatIf change, Tier tier) {
  auto& bytes = change.budgets.*budget_of(tier);
  bytes = clamped_product(bytes, 2);
  return change;
}

WhatIf one_more_drive(WhatIf change) {
  auto& machine = change.machine;
  auto const drives = static_cast<double>(machine.nvme_drives);
  auto const more = (drives + 1) / drives;
  for (auto const rate :
       {&Machine::nvme_read_gbps, &Machine::nvme_write_gbps, &Machine::nvme_both_gbps})
    machine.*rate *= more;
  auto& bytes = change.budgets.nvme_bytes;
  bytes = clamped_whole(more * static_cast<double>(bytes));
  ++machine.nvme_drives;
  return change;
}

WhatIf faster_links(WhatIf change) {
  auto& machine = change.machine;
  // On a CPU node copies within main memory are no link.
  if (!machine.is_unified())
    for (auto const rate : {&Machine::h2d_gbps, &Machine::d2h_gbps}) machine.*rate *= 2;
  for (auto const rate : {&Machine::node_gbps, &Machine::network_gbps}) machine.*rate *= 2;
  return change;
}

}  // namespace

std::vector<WhatIf> what_ifs(PlanQuestion const& question) {
  auto const& machine = question.machine;
  bool const unified = machine.is_unified();
  bool const awaited = question.request.norm_is_awaited;
  auto const begin = [&](std::string_view name, std::string words) {
    return WhatIf{name, std::move(words), question.budgets, machine, awaited};
  };
  std::vector<WhatIf> all;
  all.push_back(twice(begin("twice_the_device_memory", "twice the device memory"), Tier::device));
  if (has_tier(question.budgets, Tier::host))
    all.push_back(twice(begin("twice_the_host_memory", "twice the host memory"), Tier::host));
  if (has_tier(question.budgets, Tier::nvme)) {
    auto const words = fmt::format("one more drive ({})", machine.nvme_drives + 1);
    all.push_back(one_more_drive(begin("one_more_drive", words)));
  }
  if (!unified || question.ranks > 1)
    all.push_back(faster_links(begin("twice_the_links", "links twice as fast")));
  if (awaited) {
    all.push_back(begin("without_clipping", "without clipping"));
    all.back().norm_is_awaited = false;
  }
  return all;
}

PlanCost cost_with(PlanQuestion const& question, CostedPlan const& now, WhatIf const& change) {
  auto request = question.request;
  request.norm_is_awaited = change.norm_is_awaited;
  PlanQuestion const changed{question.train, question.eval,  std::move(request),
                             change.budgets, change.machine, question.micro_batches,
                             question.ranks, question.fewer, question.nodes_alike};
  auto const found = best_plan(changed).cost;
  if (!now.cost.fits || now.cost.step_s <= 0) return found;
  // The plan that there is fits whatever there is more of. If shorter steps wrote too much, it can
  // go on as it is.
  auto kept = now.cost;
  auto const step = simulated_step(changed, now.plan);
  if (forbidden_bytes_per_s(step, changed.budgets) == 0)
    kept.step_s = std::min(kept.step_s, step.step_s);
  return found.fits && found.step_s <= kept.step_s ? found : kept;
}

}  // namespace spillway
