#include "monitor/run_record.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/count.hpp"
#include "base/error.hpp"
#include "base/units.hpp"
#include "config/load.hpp"
#include "io/file/read_file.hpp"
#include "io/h5/checkpoint_names.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "monitor/exit_words.hpp"
#include "monitor/run_directory.hpp"
#include "plan/explain/verdict.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;
void read_config(RunRecord& run) {
  run.config.reset();
  run.config_trouble.clear();
  constexpr std::int64_t most_bytes = 1 << 26;
  auto const path = run.dir / "config.yaml";
  try {
    run.config = parse_config(read_text(path, most_bytes), path.string(), {}, elsewhere);
  } catch (Error const& error) {
    run.config_trouble = error.what();
  }
}

// Returns whether the last job that began has written the summary. Times are of whole seconds.
bool is_of_last_job(RunJson const& summary, RunHistory const& history) {
  if (history.jobs().empty()) return true;
  auto const& job = history.jobs().back();
  auto const ended_s = parse_time_s(text_at(summary, "ended"));
  auto const began_s = parse_time_s(job.begin.time);
  if (!ended_s || !began_s || *ended_s > *began_s) return true;
  return *ended_s == *began_s && job.end;
}

void read_summary(RunRecord& run) {
  run.summary = object_in(run.dir, "summary.json", run.troubles);
  if (!is_of_last_job(run.summary, run.history)) run.summary = nullptr;
}

void read_parameters(RunRecord& run) {
  if (run.parameters > 0) return;    // a run has the same all the time
  std::vector<std::string> ignored;  // whoever draws the plan tells of them
  auto found = count_at(run.summary, "parameters");
  if (!found) found = count_at(object_in(run.dir, "plan.json", ignored), "parameters");
  run.parameters = found.value_or(0);
}

std::string first_host(RunJson const& environment) {
  auto const* const hosts = find(environment, "hosts");
  bool const named = hosts != nullptr && hosts->is_array() && !hosts->empty();
  return named && hosts->front().is_string() ? hosts->front().get<std::string>() : "";
}

void note_unread(RunRecord& run) {
  auto const lines = run.history.unread_lines();
  if (lines == 0) return;
  run.troubles.push_back(fmt::format("{} of metrics.jsonl cannot be read, and {} left out.",
                                     lines == 1 ? "One line" : fmt::format("{} lines", lines),
                                     lines == 1 ? "is" : "are"));
}

CheckpointRecord checkpoint_of(fs::path const& run_dir, std::int64_t step) {
  CheckpointRecord record{.step = step};
  try {
    CheckpointReader const reader(step_path(run_dir, step));
    record.bytes = reader.size_bytes();
    if (auto const base = reader.run_strings().find("base"); base != reader.run_strings().end())
      record.base = base->second;
  } catch (Error const& error) {
    record.trouble = error.what();
  }
  return record;
}

std::vector<CheckpointRecord> checkpoints_in(fs::path const& run_dir) {
  std::vector<CheckpointRecord> records;
  try {
    auto steps = steps_in(run_dir);
    std::ranges::sort(steps, std::greater<>());
    for (auto const step : steps) records.push_back(checkpoint_of(run_dir, step));
    auto const latest = read_latest(run_dir);
    for (auto& record : records)
      record.is_newest = latest == fmt::format("{}{}", kStepPrefix, record.step);
  } catch (Error const&) {  // `latest` is damaged: then none is the newest
  } catch (fs::filesystem_error const&) {
  }
  return records;
}

}  // namespace

void read_texts(RunRecord& run) {
  run.troubles.clear();
  read_config(run);
  run.verdict = verdict_in(text_in(run.dir, "plan.txt", run.troubles).value_or(""));
  run.environment = object_in(run.dir, "environment.json", run.troubles);
  run.host = first_host(run.environment);
  read_summary(run);
  read_parameters(run);
  note_unread(run);
}

bool read_news(FollowedFile& metrics, RunHistory& history) {
  bool is_new = false;
  for (bool goes_on = true; goes_on;) {
    auto const news = metrics.look();
    if (news.begins_anew) history = {};
    for (auto const& line : news.lines) history.add(line);
    is_new = is_new || !news.lines.empty();
    goes_on = news.has_more;
  }
  return is_new;
}

RunRecord read_rows_and_texts(fs::path const& run_dir) {
  RunRecord run{.dir = run_dir};
  FollowedFile metrics(run_dir / "metrics.jsonl");
  read_news(metrics, run.history);
  run.written_at_s = metrics.written_at_s();
  read_texts(run);
  return run;
}

RunRecord read_run(fs::path const& run_dir) {
  auto run = read_rows_and_texts(run_dir);
  run.checkpoints = checkpoints_in(run_dir);
  run.at_work = at_work(run_dir);
  return run;
}

std::optional<int> last_exit(RunRecord const& run) {
  if (run.at_work.works == true || run.history.jobs().empty()) return {};
  auto const& end = run.history.jobs().back().end;
  return end ? end->exit : std::nullopt;
}

std::int64_t steps_done(RunRecord const& run) {
  auto const& history = run.history;
  if (!history.jobs().empty()) return history.jobs().back().last_step;
  return history.last() ? history.last()->step : 0;
}

std::optional<TokensDone> tokens_done(RunRecord const& run) {
  std::optional<TokensDone> done;
  if (auto const& last = run.history.last()) done = {last->tokens, last->step};
  auto const tokens = count_at(run.summary, "tokens"), step = count_at(run.summary, "step");
  bool const knows_more = tokens && step && (!done || *step > done->step);
  if (knows_more && *step <= steps_done(run)) done = {*tokens, *step};
  return done;
}

double measured_step_s(RunRecord const& run) {
  auto const told_s = real_at(run.summary, "measured_step_s").value_or(0);
  return told_s > 0 ? told_s : run.history.recent_step_s();
}

double predicted_step_s(RunRecord const& run) {
  if (auto const told_s = run.history.predicted_step_s()) return *told_s;
  return real_at(run.summary, "predicted_step_s").value_or(0);
}

std::optional<double> left_s(RunRecord const& run) {
  auto const& history = run.history;
  if (!run.config || !history.last() || history.jobs().empty()) return {};
  auto const& job = history.jobs().back();
  auto const left = run.config->run.steps - steps_done(run);
  if (left <= 0) return 0;
  auto step_s = history.recent_step_s();
  // What a job took for its steps so far has its evaluations and saves in it.
  auto const begin_s = parse_time_s(job.begin.time);
  auto const steps = job.last_step - job.begin.step;
  constexpr std::int64_t enough = 50;
  if (begin_s && steps >= enough)
    step_s = std::max(step_s, (run.written_at_s - *begin_s) / static_cast<double>(steps));
  return step_s > 0 ? std::optional(step_s * static_cast<double>(left)) : std::nullopt;
}

EventRow const* slow_rank(RunRecord const& run) {
  auto const& event = run.history.slow_rank();
  return event && run.at_work.works != false ? &*event : nullptr;
}

std::string model_words(RunRecord const& run) {
  return run.config ? model_words(*run.config, run.parameters) : "";
}

std::string data_words(DataConfig const& data) {
  std::string text;
  auto const sum = std::accumulate(data.weights.begin(), data.weights.end(), 0.0);
  for (std::size_t i = 0; i < data.train.size(); ++i) {
    if (i > 0) text += ", ";
    if (data.weights.size() > 1) text += human_number(100 * data.weights[i] / sum, 3) + " % ";
    text += data.train[i];
  }
  if (!data.valid.empty()) text += fmt::format("; valid: {}", fmt::join(data.valid, ", "));
  return text;
}

std::string model_words(Config const& config, std::int64_t parameters) {
  auto const& model = config.model;
  auto const known = parameters > 0 ? "; " + count(parameters, "parameter") : std::string();
  return fmt::format("{}, {} of {}, {}{}; {}", word(model.family), count(model.layers, "layer"),
                     model.hidden, count(model.heads, "head"), known, word(config.precision));
}

std::string state_words(RunRecord const& run) {
  auto const& [works, who] = run.at_work;
  auto const host = run.host.empty() || who.find(" on ") != who.npos ? "" : " on " + run.host;
  if (works == true) return fmt::format("at work: {}{}", who, host);
  if (!works && !who.empty())
    return fmt::format("maybe at work: {}, which cannot be seen from here", who);
  if (!works) return "not known: its lock cannot be read";
  if (run.history.jobs().empty()) return "not at work, and no job has begun to train";
  auto const exit = last_exit(run);
  if (!exit) return "not at work: its last job told no end; it was killed, or an error ended it";
  return fmt::format("not at work: its last job ended with {}: {}", *exit, exit_words(*exit));
}

}  // namespace spillway
