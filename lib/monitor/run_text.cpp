#include "monitor/run_text.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "base/units.hpp"
#include "base/wrapped.hpp"
#include "model/adapters.hpp"
#include "monitor/exit_words.hpp"
#include "monitor/run_directory.hpp"
#include "plan/data/words.hpp"

namespace spillway {
namespace {

constexpr std::size_t kMostLines = 10;  // of jobs, and of checkpoints

std::string line(std::string_view name, std::string const& text) {
  if (text.empty()) return "";
  return wrapped_row(fmt::format("  {}", name), text, 15);
}

// Not all steps are logged, and a job that was killed tells only of those that were.
std::string tokens_words(RunRecord const& run) {
  auto const done = tokens_done(run);
  if (!done) return "";
  auto const when = done->step == steps_done(run) ? "" : fmt::format(" by step {}", done->step);
  return fmt::format(", {} tokens{}", done->tokens, when);
}

std::string step_text(RunRecord const& run) {
  auto const step = steps_done(run);
  if (!run.config) return std::to_string(step);
  auto const steps = run.config->run.steps;
  auto const part = percent(static_cast<double>(step), static_cast<double>(steps));
  return fmt::format("{} of {} ({}){}", step, steps, part, tokens_words(run));
}

// Returns a text such as "3.2145 at step 1200; least 3.2011 at step 1190".
std::string losses_text(std::vector<LossPoint> const& points, std::string_view of = "") {
  auto const* const least = least_of(points);
  if (least == nullptr) return "";
  auto const& last = points.back();
  auto const text = fmt::format("{:.4f} at step {}", last.loss, last.step);
  if (least->step == last.step) return fmt::format("{}, the least{}", text, of);
  return text + fmt::format("; least{} {:.4f} at step {}", of, least->loss, least->step);
}

std::string training_losses_text(RunHistory const& history) {
  auto const& steps = history.rows().steps;
  bool const all_are_logged = !steps.empty() && std::ssize(steps) == steps.back();
  return losses_text(history.losses(), all_are_logged ? "" : " of logged steps");
}

std::string speed_text(RunRecord const& run) {
  auto const& history = run.history;
  auto const predicted_s = predicted_step_s(run);
  auto const predicted =
      predicted_s > 0 ? fmt::format("predicted {} a step", human_duration(predicted_s)) : "";
  auto const step_s = measured_step_s(run);
  if (step_s <= 0) return predicted;
  return fmt::format("{} a step, {:.0f} tokens/s{}{}", human_duration(step_s),
                     history.recent_tokens_per_s(), predicted.empty() ? "" : "; ", predicted);
}

std::string peaks_of(RunRecord const& run) {
  auto const told = tiers_at(run.summary, "measured_peak_bytes");
  auto const all_planned = tiers_at(run.summary, "predicted_peak_bytes");
  std::string text;
  for (Tier const tier : kTiersInOrder) {
    auto const& last = run.history.last();
    auto const measured = std::max(last ? last->peak_bytes[tier] : 0, told[tier]);
    auto const planned = all_planned[tier];
    if (measured == 0 && planned == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", words(tier), human_bytes(measured));
    if (planned > 0) text += fmt::format(" (planned {})", human_bytes(planned));
  }
  return text;
}

// Returns a line about the begin of a job, and one about its end.
std::string job_lines(JobRecord const& job, bool works) {
  auto const row = [](std::string const& time, std::string const& what) {
    return wrapped_row("    " + time, what, 26);
  };
  auto begin = fmt::format("{} at step {}", job.begin.event, job.begin.step);
  if (!job.begin.job.empty()) begin += fmt::format(" (job {})", job.begin.job);
  if (job.replans > 0) begin += fmt::format(", {}", count(job.replans, "re-plan"));
  if (!job.end)
    return row(job.begin.time, begin + fmt::format("; step {} was logged last, {}", job.last_step,
                                                   works ? "goes on" : "told no end"));
  auto end = fmt::format("end at step {}", job.end->step);
  if (job.end->exit) end += fmt::format(" with {}: {}", *job.end->exit, exit_words(*job.end->exit));
  return row(job.begin.time, begin) + row(job.end->time, end);
}

std::string jobs_text(RunRecord const& run) {
  auto const& jobs = run.history.jobs();
  if (jobs.empty()) return "";
  auto const left_out = jobs.size() - std::min(jobs.size(), kMostLines);
  auto text = line("jobs", std::to_string(jobs.size()) +
                               (left_out > 0 ? fmt::format(", the last {}", kMostLines) : ""));
  for (auto i = left_out; i < jobs.size(); ++i)
    text += job_lines(jobs[i], i + 1 == jobs.size() && run.at_work.works == true);
  return text;
}

// Returns what is trained, and where the weights are that checkpoints do not hold.
std::string trained_text(RunRecord const& run) {
  auto const trained = run.config ? trained_words(run.config->model) : "";
  auto const has_base = [](auto const& checkpoint) { return !checkpoint.base.empty(); };
  auto const found = std::ranges::find_if(run.checkpoints, has_base);
  return line("trains", trained) + line("base", found == run.checkpoints.end() ? "" : found->base);
}

std::string checkpoints_text(RunRecord const& run) {
  auto const& all = run.checkpoints;
  if (all.empty()) return line("checkpoints", "none");
  auto text = line("checkpoints", std::to_string(all.size()));
  for (std::size_t i = 0; i < std::min(all.size(), kMostLines); ++i) {
    auto const what = all[i].trouble.empty() ? human_bytes(all[i].bytes) : all[i].trouble;
    text += fmt::format("    step-{:<10} {}{}\n", all[i].step, what,
                        all[i].is_newest ? ", the newest: a job goes on from it" : "");
  }
  return text;
}

std::string slow_text(RunRecord const& run) {
  auto const* const slow = slow_rank(run);
  return slow == nullptr ? "" : fmt::format("{}, since step {}", slow->why, slow->step);
}

// Returns what a user should look at.
std::string warnings(RunRecord const& run) {
  std::string text = line("warning", run.config_trouble);
  for (auto const& trouble : run.troubles) text += line("warning", trouble);
  auto const exit = last_exit(run);
  if (exit && *exit != 0) {
    auto const& why = run.history.jobs().back().end->why;
    auto const what = *exit == 75   ? "the same command goes on from the newest checkpoint"
                      : why.empty() ? "its log says what to change"
                                    : why;
    text += line("warning",
                 fmt::format("the last job ended with {}, {}: {}", *exit, exit_words(*exit), what));
  }
  auto const& last = run.history.last();
  if (last && !last->loss) text += line("warning", "the last loss is none, or not finite");
  bool const names_newest =
      std::ranges::any_of(run.checkpoints, [](auto const& one) { return one.is_newest; });
  if (!run.checkpoints.empty() && !names_newest)
    text += line("warning", "`latest` names none of the checkpoints");
  return text;
}

// Describes the directory of a job that has not come as far as its plan.
std::string describe_lock(RunRecord const& run) {
  auto const* const what =
      run.at_work.works == false
          ? "nothing but `lock`: a job ended here before it had a plan, and its log says why"
          : "nothing but `lock`: a job reads its data, measures or plans";
  return fmt::format("run {}\n", run.dir.string()) + line("state", state_words(run)) +
         line("holds", what);
}

}  // namespace

std::string event_line(EventRow const& row) {
  auto text = fmt::format("{}  {} at step {}", row.time, row.event, row.step);
  if (row.exit) text += fmt::format(" with {}: {}", *row.exit, exit_words(*row.exit));
  if (!row.why.empty()) text += ": " + row.why;
  if (!row.changed.empty()) {
    text += ": " + row.changed.front();
    if (row.changed.size() > 1) text += " and " + count(std::ssize(row.changed) - 1, "more key");
  }
  return text;
}

std::string describe_run(RunRecord const& run) {
  if (has_only_lock(run.dir)) return describe_lock(run);
  auto const left = left_s(run);
  bool const goes_on = run.at_work.works != false && left.value_or(0) > 0;
  return fmt::format("run {}\n", run.dir.string()) + line("state", state_words(run)) +
         line("model", model_words(run)) +
         line("data", run.config ? data_words(run.config->data) : "") + trained_text(run) +
         line("step", step_text(run)) + line("loss", training_losses_text(run.history)) +
         line("valid", losses_text(run.history.valid_losses())) + line("speed", speed_text(run)) +
         line("slow", slow_text(run)) + line("left", goes_on ? human_duration(*left) : "") +
         line("plan", run.verdict) + line("peaks", peaks_of(run)) + jobs_text(run) +
         checkpoints_text(run) + warnings(run);
}

}  // namespace spillway
