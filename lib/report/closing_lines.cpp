#include "report/closing_lines.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/units.hpp"
#include "base/wrapped.hpp"
#include "plan/data/words.hpp"
#include "plan/explain/run_text.hpp"
#include "plan/time/drive_use.hpp"
#include "report/warning_lines.hpp"

namespace spillway {
namespace {

// Returns a loss with the best one, if that is of another step, or "" if there is none.
std::string loss_words(std::string_view name, LossRecord const& loss) {
  if (!loss.last) return "";
  auto const text = fmt::format(", {} {:.4f}", name, *loss.last);
  if (!loss.best || *loss.best == *loss.last) return text;
  return text + fmt::format(" (best {:.4f}, step {})", *loss.best, loss.best_step);
}

std::string outcome_lines(Outcome const& outcome, std::string const& run) {
  auto const what = fmt::format(
      "{}: step {}{}{}, {} tokens", run, outcome.step, loss_words("loss", outcome.loss),
      loss_words("valid", outcome.valid_loss), tokens_text(static_cast<double>(outcome.tokens)));
  auto text = wrapped_line(what) +
              fmt::format("  {} from start to end, {} of them before the first step\n",
                          human_duration(outcome.duration_s), human_duration(outcome.restart_s));
  if (outcome.done_again > 0)
    text += fmt::format("  {} for {} once more, which an earlier job had lost\n",
                        human_duration(outcome.done_again_s), count(outcome.done_again, "step"));
  return text;
}

// Says so if steps took far less time than was predicted, as they do where other work kept the
// cores busy while they were measured. Other work during training makes steps longer instead.
std::string faster_line(Summary const& summary) {
  constexpr double far = 10;
  if (summary.measured_step_s <= 0 || summary.predicted_step_s < far * summary.measured_step_s)
    return "";
  auto const text = fmt::format(
      "Steps took {}, not {} as predicted: this machine is faster than the plan took it for, as if "
      "other work kept it busy while it was measured. spillway profile, with the run's input file "
      "and keys, measures anew.",
      human_duration(summary.measured_step_s), human_duration(summary.predicted_step_s));
  return wrapped_line(text);
}

std::string peak_row(std::string_view what, std::int64_t planned, std::int64_t measured) {
  return fmt::format("  {:<18} {:>16} {:>16} {:>10}\n", what, planned, measured,
                     human_bytes(measured));
}

std::string peak_lines(Summary const& summary) {
  auto const& beside = summary.device_outside_bytes;
  auto const plan = (beside ? 0 : summary.predicted_peak_bytes[index(Tier::device)]) +
                    summary.predicted_peak_bytes[index(Tier::host)];
  auto text = fmt::format("{:<20} {:>16} {:>16}\n", "peak bytes", "planned", "measured");
  for (Tier const tier : kTiersInOrder) {
    auto const planned = summary.predicted_peak_bytes[tier];
    if (planned > 0) text += peak_row(words(tier), planned, summary.measured_peak_bytes[tier]);
  }
  text += peak_row("process", plan + summary.outside_bytes, summary.peak_rss_bytes);
  auto const of_process = fmt::format(
      "  (process: resident; planned: {}host memory + {} outside; the others: in use by the items "
      "that ran)",
      beside ? "" : "device + ", human_bytes(summary.outside_bytes));
  text += wrapped_line(of_process, "    ");
  if (beside) text += fmt::format("  the device holds {} more\n", human_bytes(*beside));
  return text;
}

// Returns a line about the rank that waited longest, or "" if no rank waited for long.
std::string wait_line(Summary const& summary) {
  constexpr double worth_a_line = 0.01;  // as a share of training
  auto const& waits = summary.waits;
  auto const most = std::ranges::max_element(waits, {}, &RankWait::waited_s);
  if (most == waits.end() || most->most_for < 0) return "";
  if (most->waited_s < worth_a_line * summary.train_s) return "";
  return fmt::format("rank {} waited longest: {} of {}, {} of it for rank {}\n",
                     most - waits.begin(), human_duration(most->waited_s),
                     human_duration(summary.train_s), human_duration(most->for_it_s),
                     most->most_for);
}

// Returns what went to the drive and how long it lasts at this rate, or "" if nothing did. Bytes
// are those of all ranks.
std::string spill_lines(SpillReport const& spill, bool is_alone) {
  if (spill.written_bytes == 0) return "";
  auto const whose = is_alone ? "" : " a rank";
  auto const text =
      fmt::format("NVMe: {} written at {} GB/s{}, {} read at {} GB/s{}\n",
                  human_bytes(spill.written_bytes), human_number(spill.write_gbps, 3), whose,
                  human_bytes(spill.read_bytes), human_number(spill.read_gbps, 3), whose);
  if (spill.lifetime_years == 0) return text;
  return text + fmt::format("  drives rated for {} last {}, as spill files use them {}\n",
                            drive_bytes(static_cast<double>(spill.endurance_bytes)),
                            drive_life(spill.lifetime_years),
                            drive_life(spill.used_lifetime_years));
}

}  // namespace

std::string closing_lines(Summary const& summary, Config const& config) {
  return outcome_lines(summary.outcome, config.run.dir) + to_text(summary.times) +
         faster_line(summary) + peak_lines(summary) +
         spill_lines(summary.spill, summary.waits.empty()) + wait_line(summary) +
         warning_lines(summary.warnings);
}

}  // namespace spillway
