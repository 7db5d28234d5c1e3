#include "monitor/run_record.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/error.hpp"
#include "config/load.hpp"
#include "io/file/read_file.hpp"
#include "io/h5/checkpoint_file.hpp"
#include "io/h5/checkpoint_names.hpp"
#include "io/h5/checkpoint_reader.hpp"
#include "model/model.hpp"
#include "monitor/exit_words.hpp"
#include "monitor/followed_file.hpp"
#include "monitor/json_fields.hpp"
#include "plan/explain/verdict.hpp"

namespace spillway {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr std::int64_t kMostTextBytes = std::int64_t{1} << 26;

// Returns the text of a file that runs write, or "" if it cannot be read.
std::string text_in(fs::path const& run_dir, char const* name) {
  try {
    return read_text(run_dir / name, kMostTextBytes);
  } catch (Error const&) {
    return "";
  }
}

void read_config(RunRecord& run) {
  auto const path = run.dir / "config.yaml";
  try {
    run.config = parse_config(read_text(path, kMostTextBytes), path.string(), {}, elsewhere);
    if (run.config->model.vocab == 0) return;
    Arithmetic arithmetic;
    arithmetic.sequence = run.config->data.sequence;
    run.parameters = build_model(*run.config, run.config->model.vocab, arithmetic, Purpose::eval)
                         .parameter_count();
  } catch (Error const& error) {
    run.config_trouble = error.what();
  }
}

std::optional<SummaryRecord> summary_in(fs::path const& run_dir) {
  auto const json = Json::parse(text_in(run_dir, "summary.json"), nullptr, false);
  if (!json.is_object()) return {};
  SummaryRecord summary{{},
                        real_at(json, "predicted_step_s").value_or(0),
                        real_at(json, "measured_step_s").value_or(0),
                        tiers_at(json, "predicted_peak_bytes"),
                        tiers_at(json, "measured_peak_bytes")};
  auto const exit = json.find("exit");
  if (exit != json.end() && exit->is_number_integer()) summary.exit = exit->get<int>();
  return summary;
}

std::string first_host(fs::path const& run_dir) {
  auto const json = Json::parse(text_in(run_dir, "environment.json"), nullptr, false);
  if (!json.is_object()) return "";
  auto const hosts = json.find("hosts");
  bool const named = hosts != json.end() && hosts->is_array() && !hosts->empty();
  return named && hosts->front().is_string() ? hosts->front().get<std::string>() : "";
}

CheckpointRecord checkpoint_of(fs::path const& run_dir, std::int64_t step) {
  CheckpointRecord record{.step = step};
  try {
    record.bytes = CheckpointReader(step_path(run_dir, step)).size_bytes();
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

bool is_run_directory(fs::path const& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored) || fs::exists(path / manifest_name, ignored)) return false;
  auto const names = {"config.yaml", "metrics.jsonl", "lock", kLatest};
  return std::ranges::any_of(names, [&](auto* name) { return fs::exists(path / name, ignored); });
}

RunRecord read_run_texts(fs::path const& run_dir) {
  RunRecord run{.dir = run_dir};
  read_config(run);
  run.verdict = verdict_in(text_in(run_dir, "plan.txt"));
  run.host = first_host(run_dir);
  run.summary = summary_in(run_dir);
  return run;
}

RunRecord read_run(fs::path const& run_dir) {
  auto run = read_run_texts(run_dir);
  FollowedFile metrics(run_dir / "metrics.jsonl");
  for (auto const& line : metrics.look().lines) run.history.add(line);
  run.written_at_s = metrics.written_at_s();
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
  auto const logged = history.last() ? history.last()->step : 0;
  bool const has_end = !history.jobs().empty() && history.jobs().back().end;
  return has_end ? std::max(logged, history.jobs().back().end->step) : logged;
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

std::string model_words(RunRecord const& run) {
  if (!run.config) return "";
  auto const& model = run.config->model;
  auto const parameters =
      run.parameters > 0 ? fmt::format("; {} parameters", run.parameters) : std::string();
  return fmt::format("{}, {} layers of {}, {} heads{}; {}", word(model.family), model.layers,
                     model.hidden, model.heads, parameters, word(run.config->precision));
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
