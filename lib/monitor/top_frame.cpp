#include "monitor/top_frame.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "base/printable.hpp"
#include "base/units.hpp"
#include "monitor/run_text.hpp"
#include "monitor/sparkline.hpp"
#include "plan/data/words.hpp"

namespace spillway {
namespace {

using Lines = std::vector<std::string>;

// Returns the text without what controls a terminal, cut to `columns` characters.
std::string fitted(std::string const& text, std::size_t columns) {
  auto line = printable(text);
  std::ranges::replace(line, '\n', ' ');
  std::ranges::replace(line, '\t', ' ');
  std::size_t characters = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    bool const begins = (static_cast<unsigned char>(line[i]) & 0xc0) != 0x80;
    if (begins && characters++ == columns) return line.substr(0, i);
  }
  return line;
}

std::string bar(double share, std::size_t columns, bool unicode) {
  auto const full = static_cast<double>(columns) * std::clamp(share, 0.0, 1.0);
  auto const filled = static_cast<std::size_t>(std::lround(full));
  std::string text;
  for (std::size_t i = 0; i < columns; ++i)
    text += i < filled ? (unicode ? "█" : "#") : (unicode ? "░" : ".");
  return text;
}

// Returns how long the job is, or was, at work, as far as its rows tell.
std::string elapsed(RunRecord const& run, double silent_s) {
  if (run.history.jobs().empty()) return "";
  auto const& job = run.history.jobs().back();
  auto const begin_s = parse_time_s(job.begin.time);
  if (!begin_s) return "";
  auto const since_s = job.end ? 0 : silent_s;
  return "  elapsed " + human_duration(std::max(0.0, run.written_at_s - *begin_s) + since_s);
}

void add_progress(RunRecord const& run, double silent_s, Window const& window, Lines& lines) {
  auto const step = steps_done(run);
  auto const steps = run.config ? run.config->run.steps : 0;
  auto const share = steps > 0 ? static_cast<double>(step) / static_cast<double>(steps) : 0;
  auto text = steps > 0 ? fmt::format("step {}/{}", step, steps) : fmt::format("step {}", step);
  auto times = elapsed(run, silent_s);
  auto const left = left_s(run);
  if (left && run.at_work.works != false) times += "  left " + human_duration(*left);
  auto const part = (steps > 0 ? fmt::format(" {:>3.0f} %", 100 * share) : "") + times;
  auto const taken = text.size() + part.size() + 1;
  auto const room = window.columns > taken ? window.columns - taken : 0;
  if (steps > 0 && room >= 8) text += " " + bar(share, room, window.unicode);
  lines.push_back(text + part);
}

std::string point_text(std::string_view name, std::vector<LossPoint> const& points) {
  auto const* const least = least_of(points);
  if (least == nullptr) return "";
  auto const text = fmt::format("{} {:.4f}", name, points.back().loss);
  if (least->step == points.back().step) return text + " (least)";
  return text + fmt::format(" (least {:.4f} at {})", least->loss, least->step);
}

void add_losses(RunRecord const& run, Window const& window, Lines& lines) {
  auto const& history = run.history;
  auto const valid = point_text("valid", history.valid_losses());
  lines.push_back(point_text("loss", history.losses()) + (valid.empty() ? "" : "   ") + valid);
  std::vector<double> losses;
  for (auto const& point : history.losses()) losses.push_back(point.loss);
  lines.push_back(sparkline(losses, window.columns, window.unicode));
}

void add_numbers(RunRecord const& run, Lines& lines) {
  auto const& last = *run.history.last();
  std::string text;
  if (last.lr) text += fmt::format("lr {}   ", human_number(*last.lr, 3));
  if (last.grad_norm) text += fmt::format("norm {}   ", human_number(*last.grad_norm, 3));
  text += fmt::format("{:.0f} tokens/s   {} a step", run.history.recent_tokens_per_s(),
                      human_duration(run.history.recent_step_s()));
  if (auto const predicted_s = run.history.predicted_step_s())
    text += fmt::format(" (predicted {})", human_duration(*predicted_s));
  if (last.mfu) text += fmt::format("   MFU {:.0f} %", 100 * *last.mfu);
  lines.push_back(text);
}

void add_lanes(RunRecord const& run, Window const& window, Lines& lines) {
  auto const& last = *run.history.last();
  if (last.lanes.empty() || last.step_s <= 0) return;
  lines.emplace_back();
  lines.push_back(fmt::format("{:<22} {:>5}  {:<20}  {:>9}", "lane", "busy", "", "waits"));
  for (auto const& lane : last.lanes)
    lines.push_back(fmt::format(
        "{:<22} {:>5}  {}  {:>9}", words(lane.lane), percent(lane.busy_s, last.step_s),
        bar(lane.busy_s / last.step_s, 20, window.unicode), human_duration(lane.stall_s)));
}

std::optional<std::int64_t> budget_of_tier(RunRecord const& run, Tier tier) {
  if (!run.config) return {};
  auto const& memory = run.config->memory;
  if (tier == Tier::device) return memory.device_bytes;
  return tier == Tier::host ? memory.host_bytes : memory.nvme_bytes;
}

void add_tiers(RunRecord const& run, Window const& window, Lines& lines) {
  lines.emplace_back();
  lines.push_back(fmt::format("{:<18} {:>9}  {:<20}  {:>9}", "memory", "peak", "", "budget"));
  for (Tier const tier : kTiersInOrder) {
    auto const peak = run.history.last()->peak_bytes[tier];
    if (peak == 0) continue;
    auto const budget = budget_of_tier(run, tier).value_or(0);
    auto const share = budget > 0 ? static_cast<double>(peak) / static_cast<double>(budget) : 0;
    lines.push_back(fmt::format("{:<18} {:>9}  {}  {:>9}", words(tier), human_bytes(peak),
                                bar(share, 20, window.unicode), bytes_or_dash(budget)));
  }
}

// Returns a text if rows have not come for much longer than they use to.
std::string notice(RunRecord const& run, double silent_s) {
  constexpr double patience_s = 30, patience_rows = 5;
  auto const& last = run.history.last();
  if (run.at_work.works == false || run.history.jobs().empty() || run.history.jobs().back().end)
    return "";
  auto const every = run.config ? run.config->run.log_every : 1;
  auto const usual_s = static_cast<double>(every) * run.history.recent_step_s();
  if (silent_s < std::max(patience_s, patience_rows * usual_s)) return "";
  if (!last) return fmt::format("no step for {}: none is done yet", human_duration(silent_s));
  auto const which = every > 1 ? fmt::format(", and one of {} is logged", every) : "";
  return fmt::format("no step for {}: the last took {}{}", human_duration(silent_s),
                     human_duration(last->step_s), which);
}

void add_events(RunRecord const& run, std::size_t rows, Lines& lines) {
  auto const& events = run.history.events();
  if (events.empty() || rows < lines.size() + 3) return;
  auto const room = rows - lines.size() - 2;
  lines.emplace_back();
  lines.emplace_back("last events");
  for (auto i = events.size() - std::min(events.size(), room); i < events.size(); ++i)
    lines.push_back(event_line(events[i]));
}

}  // namespace

std::vector<std::string> top_frame(RunRecord const& run, double silent_s, Window const& window) {
  Lines lines = {fmt::format("{}: {}", run.dir.string(), state_words(run))};
  if (auto const model = model_words(run); !model.empty()) lines.push_back(model);
  add_progress(run, silent_s, window, lines);
  if (auto const text = notice(run, silent_s); !text.empty()) lines.push_back(text);
  if (auto const* const slow = slow_rank(run)) lines.push_back("slow: " + slow->why);
  if (run.history.last()) {
    add_losses(run, window, lines);
    add_numbers(run, lines);
    add_lanes(run, window, lines);
    add_tiers(run, window, lines);
  } else {
    lines.emplace_back("no step is logged yet");
  }
  add_events(run, window.rows, lines);
  if (lines.size() > window.rows) lines.resize(window.rows);
  for (auto& line : lines) line = fitted(line, window.columns);
  return lines;
}

}  // namespace spillway
