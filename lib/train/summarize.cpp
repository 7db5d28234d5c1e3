#include "train/summarize.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>

#include "base/process_memory.hpp"
#include "base/warnings.hpp"
#include "comm/gathered.hpp"
#include "comm/gathered_texts.hpp"
#include "plan/time/drive_use.hpp"
#include "report/environment.hpp"
#include "report/warning_lines.hpp"

namespace spillway {
namespace {

RankNumbers own_numbers(SummaryParts const& parts) {
  RankNumbers own;
  own.planned = parts.trainer.plans().peak_bytes();
  own.predicted_step_s = parts.trainer.plans().simulation().step_s;
  for (std::size_t tier = 0; tier < own.measured.size(); ++tier) {
    own.measured[tier] = parts.memory.tiers().in_use[tier].value();
  }
  auto const spilled = parts.memory.spilled();
  own.outside_bytes = parts.outside_bytes;
  own.device_outside_bytes = parts.device_outside_bytes;
  own.pinning = parts.pinning;
  own.peak_rss_bytes = process_memory().peak_resident_bytes;
  own.written_bytes = spilled.written_bytes;
  own.read_bytes = spilled.read_bytes;
  own.write_s = spilled.write_s;
  own.read_s = spilled.read_s;
  return own;
}

SpillReport spilled(RankNumbers const& total, SummaryParts const& parts, double step_s) {
  auto report = spill_report(total);
  auto const& plans = parts.trainer.plans();
  auto const use = drive_use(plans.simulation().bytes[index(Lane::nvme_write)], step_s,
                             plans.planned().programs.train.ranks, parts.machine);
  report.lifetime_years = use.lifetime_years;
  report.used_lifetime_years = use.used_lifetime_years;
  report.endurance_bytes = parts.machine.nvme_endurance_bytes;
  return report;
}

Outcome outcome_of(SummaryParts const& parts) {
  auto const& trainer = parts.trainer;
  auto const& graph = trainer.plans().planned().train;
  Outcome outcome{.step = trainer.state().step, .tokens = trainer.state().tokens};
  outcome.parameters = graph.parameter_count();
  outcome.trainable_parameters = graph.trained_parameter_count();
  outcome.loss = trainer.reporter().loss();
  outcome.valid_loss = trainer.reporter().valid_loss();
  outcome.duration_s = seconds_since(parts.begin);
  outcome.ended = std::time(nullptr);
  outcome.started = outcome.ended - std::llround(outcome.duration_s);
  outcome.restart_s = parts.restart_s;
  outcome.done_again = trainer.reporter().done_again().steps;
  outcome.done_again_s = trainer.reporter().done_again().seconds;
  outcome.evaluations = trainer.pace().evaluations();
  outcome.saves = trainer.pace().saves();
  auto const times = trainer.training_times(parts.train_s);
  outcome.evaluations_s = times.evaluation_s;
  outcome.saves_s = times.saving_s;
  return outcome;
}

// Returns the warnings that this rank has written, each on a line.
std::string own_warnings() {
  constexpr std::size_t most_bytes = 16'384;
  std::string text;
  for (auto line : warnings_so_far()) {
    std::ranges::replace(line, '\n', ' ');
    if (text.size() + line.size() < most_bytes) text += line + "\n";
  }
  return text;
}

// Returns the summary without what only all ranks together know, where `total` is not of all.
Summary summary_of(SummaryParts const& parts, RankNumbers const& total) {
  Summary summary;
  summary.plan = parts.trainer.plans().file();
  summary.predicted_peak_bytes = total.planned;
  summary.measured_peak_bytes = total.measured;
  summary.outside_bytes = total.outside_bytes;
  summary.device_outside_bytes = total.device_outside_bytes;
  summary.pinning = total.pinning;
  summary.peak_rss_bytes = total.peak_rss_bytes;
  summary.predicted_step_s = total.predicted_step_s;
  summary.measured_step_s = parts.trainer.reporter().median_step_s();
  summary.spill = spilled(total, parts, summary.measured_step_s);
  if (auto const* spill = parts.memory.spill()) summary.spill.backend = spill->backend();
  summary.lanes = parts.trainer.reporter().lanes();
  summary.train_s = parts.train_s;
  summary.outcome = outcome_of(parts);
  summary.job = job_name();
  summary.exit = parts.exit;
  return summary;
}

}  // namespace

RankNumbers over_ranks(std::span<RankNumbers const> all) {
  RankNumbers total;
  for (auto const& rank : all) {
    for (std::size_t tier = 0; tier < total.measured.size(); ++tier) {
      total.planned[tier] = std::max(total.planned[tier], rank.planned[tier]);
      total.measured[tier] = std::max(total.measured[tier], rank.measured[tier]);
    }
    total.predicted_step_s = std::max(total.predicted_step_s, rank.predicted_step_s);
    total.outside_bytes = std::max(total.outside_bytes, rank.outside_bytes);
    total.device_outside_bytes = std::max(total.device_outside_bytes, rank.device_outside_bytes);
    total.pinning = std::max(total.pinning, rank.pinning);
    total.peak_rss_bytes = std::max(total.peak_rss_bytes, rank.peak_rss_bytes);
    total.written_bytes += rank.written_bytes;
    total.read_bytes += rank.read_bytes;
    total.write_s += rank.write_s;
    total.read_s += rank.read_s;
  }
  return total;
}

SpillReport spill_report(RankNumbers const& total) {
  SpillReport report;
  auto const gbps = [](std::int64_t bytes, double s) {
    return s > 0 ? static_cast<double>(bytes) / s / 1e9 : 0;
  };
  report.written_bytes = total.written_bytes;
  report.read_bytes = total.read_bytes;
  report.write_gbps = gbps(total.written_bytes, total.write_s);
  report.read_gbps = gbps(total.read_bytes, total.read_s);
  return report;
}

std::array<double, kOpKinds> predicted_op_seconds(Program const& program,
                                                  Simulation const& simulation) {
  std::array<double, kOpKinds> seconds{};
  for (auto const& interval : simulation.intervals) {
    auto const& item = program.items[static_cast<std::size_t>(interval.item)];
    if (item.kind != ItemKind::op) continue;
    auto const& op = program.ops[static_cast<std::size_t>(item.op)];
    seconds[static_cast<std::size_t>(op.kind)] +=
        static_cast<double>(interval.times) * (interval.end_s - interval.start_s);
  }
  return seconds;
}

Summary summarize_alone(SummaryParts const& parts) {
  auto const own = own_numbers(parts);
  auto const times = parts.trainer.training_times(parts.train_s);
  auto summary = summary_of(parts, over_ranks({&own, 1}));
  summary.times = time_table({&times, 1}, parts.trainer.predicted_times());
  summary.warnings = merged_warnings(std::vector{own_warnings()});
  return summary;
}

Summary summarize(SummaryParts const& parts, Comm& comm) {
  auto const waits =
      gathered(comm, wait_of(comm.waited_s()));  // before the next collective adds to them
  auto summary = summary_of(parts, over_ranks(gathered(comm, own_numbers(parts))));
  auto const& plans = parts.trainer.plans();
  summary.predicted_op_s = predicted_op_seconds(plans.planned().programs.train, plans.simulation());
  summary.measured_op_s = parts.trainer.op_seconds();
  summary.times = time_table(gathered(comm, parts.trainer.training_times(parts.train_s)),
                             parts.trainer.predicted_times());
  summary.warnings = merged_warnings(gathered_texts(comm, own_warnings()));
  if (comm.size() > 1) summary.waits = waits;
  return summary;
}

}  // namespace spillway
