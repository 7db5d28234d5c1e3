#include "report/closing_lines.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/units.hpp"
#include "base/wrapped.hpp"
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
  return wrapped(what) + fmt::format("\n  {} from start to end, {} of them before the first step\n",
                                     human_duration(outcome.duration_s),
                                     human_duration(outcome.restart_s));
}

std::string peak_lines(Summary const& summary, Config const& config) {
  auto const& beside = summary.device_outside_bytes;
  auto const plan = (beside ? 0 : summary.predicted_peak_bytes[index(Tier::device)]) +
                    summary.predicted_peak_bytes[index(Tier::host)];
  auto text = fmt::format("{}: peak bytes, planned and resident\n", config.run.dir);
  text += fmt::format("  process {:>14} {:>14}  ({}host + outside {})\n",
                      plan + summary.outside_bytes, summary.peak_rss_bytes,
                      beside ? "" : "device + ", human_bytes(summary.outside_bytes));
  text += "of its tiers, planned and in use by the items that ran\n";
  for (Tier const tier : kTiersInOrder) {
    auto const i = index(tier);
    if (summary.predicted_peak_bytes[i] == 0) continue;
    text +=
        fmt::format("  {:<8}{:>14} {:>14}  ({})\n", name(tier), summary.predicted_peak_bytes[i],
                    summary.measured_peak_bytes[i], human_bytes(summary.measured_peak_bytes[i]));
  }
  if (beside) text += fmt::format("  the device holds {} more\n", human_bytes(*beside));
  return text;
}

// Returns a line about the rank that waited longest, or "" if there is only one rank.
std::string wait_line(Summary const& summary) {
  auto const& waits = summary.waits;
  auto const most = std::ranges::max_element(waits, {}, &RankWait::waited_s);
  if (most == waits.end() || most->most_for < 0) return "";
  return fmt::format("  waits    rank {} waited longest: {:.1f} of {:.1f} s, {:.1f} for rank {}\n",
                     most - waits.begin(), most->waited_s, summary.train_s, most->for_it_s,
                     most->most_for);
}

// Returns what went to the drive and how long it lasts at this rate, or "" if nothing did. Bytes
// are those of all ranks.
std::string spill_lines(SpillReport const& spill, bool is_alone) {
  if (spill.written_bytes == 0) return "";
  auto const whose = is_alone ? "" : " a rank";
  auto const text = fmt::format("  nvme {} written at {:.2f} GB/s{}, {} read at {:.2f} GB/s{}\n",
                                human_bytes(spill.written_bytes), spill.write_gbps, whose,
                                human_bytes(spill.read_bytes), spill.read_gbps, whose);
  if (spill.lifetime_years == 0) return text;
  return text + fmt::format("    drives rated for {} last {}, as spill files use them {}\n",
                            drive_bytes(static_cast<double>(spill.endurance_bytes)),
                            drive_life(spill.lifetime_years),
                            drive_life(spill.used_lifetime_years));
}

}  // namespace

std::string closing_lines(Summary const& summary, Config const& config) {
  return outcome_lines(summary.outcome, config.run.dir) + to_text(summary.times) +
         peak_lines(summary, config) + spill_lines(summary.spill, summary.waits.empty()) +
         wait_line(summary) + warning_lines(summary.warnings);
}

}  // namespace spillway
