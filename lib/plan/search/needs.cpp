#include "plan/search/needs.hpp"

#include <algorithm>

#include "plan/data/reach.hpp"
#include "plan/proof/derive.hpp"

namespace spillway {
namespace {

TierBytes limited_peaks_of(Program const& program, Budgets const& budgets) {
  auto peaks = program.peak_bytes;
  if (budgets.host_bytes == 0 && !uses_host_tier(program)) peaks[Tier::host] = 0;
  return peaks;
}

}  // namespace

TierBytes limited_peaks(PlanQuestion const& question, Plan const& plan, Program const& train) {
  auto result = limited_peaks_of(train, question.budgets);
  for (auto const fewer : question.fewer) {
    auto const compiled =
        compile_without_waits(question.train, question.eval, plan, fewer, question.ranks);
    auto const peaks = limited_peaks_of(compiled.train, question.budgets);
    for (Tier const tier : kTiersInOrder) result[tier] = std::max(result[tier], peaks[tier]);
  }
  return result;
}

double forbidden_bytes_per_s(Simulation const& step, Budgets const& budgets) {
  auto const written = static_cast<double>(step.bytes[Lane::nvme_write]);
  double const bytes_per_s = written > 0 ? written / step.step_s : 0;
  return bytes_per_s > budgets.nvme_bytes_per_s ? bytes_per_s : 0;
}

Simulation simulated_step(PlanQuestion const& question, Plan const& plan) {
  auto programs = compile_without_waits(question.train, question.eval, plan, question.micro_batches,
                                        question.ranks);
  derive_waits(programs.train);
  return simulate(programs.train, question.machine);
}

}  // namespace spillway
