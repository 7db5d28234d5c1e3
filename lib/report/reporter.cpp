#include "report/reporter.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

#include "base/log.hpp"
#include "base/median.hpp"
#include "base/standard_streams.hpp"
#include "base/units.hpp"

namespace spillway {
namespace {

double rate_of_precision(Config const& config, double bf16_gflops, double f32_gflops) {
  return 1e9 * (config.precision == Precision::bf16 ? bf16_gflops : f32_gflops);
}

std::optional<double> share(double part, double whole) {
  return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

void add(LaneReport& sum, LaneReport const& step) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    auto const& use = step.use[lane];
    auto& all = sum.use[lane];
    all = {all.busy_s + use.busy_s, all.stall_s + use.stall_s, all.bytes + use.bytes};
    sum.compute_stall_s[lane] += step.compute_stall_s[lane];
  }
  for (std::size_t part = 0; part < kWorkParts; ++part)
    sum.compute_work_s[part] += step.compute_work_s[part];
}

}  // namespace

Reporter::Reporter(Config const& config, Machine const& machine, double step_flops,
                   RunDir const* run_dir, std::vector<std::string> hosts)
    : m_config(config),
      m_step_flops(step_flops),
      m_peak_flops_per_s(
          rate_of_precision(config, machine.peak_gflops_bf16, machine.peak_gflops_f32)),
      m_matmul_flops_per_s(
          rate_of_precision(config, machine.matmul_gflops_bf16, machine.matmul_gflops_f32)),
      m_run_dir(run_dir),
      m_hosts(std::move(hosts)),
      m_progress(config.run.steps, {.terminal = isatty(STDERR_FILENO) != 0}) {
  if (run_dir == nullptr) return;
  m_file.emplace(run_dir->path() / "metrics.jsonl");
  if (config.run.log_tensorboard) m_events.emplace(run_dir->path());
}

StepMetrics Reporter::metrics(Step const& step) const {
  auto const& result = step.result;
  auto const flops_per_s = m_step_flops / result.step_s;
  return {.step = step.done,
          .tokens = step.tokens,
          .loss = {result.loss_sum, result.weight_sum},
          .grad_norm = result.grad_norm,
          .lr = result.learning_rate,
          .step_s = result.step_s,
          .tokens_per_s = static_cast<double>(step.step_tokens) / result.step_s,
          .mfu = share(flops_per_s, m_peak_flops_per_s),
          .matmul_share = share(flops_per_s, m_matmul_flops_per_s),
          .matmul_gflops = 1e-9 * m_matmul_flops_per_s,
          .peak_bytes = step.in_use,
          .lanes = result.lanes,
          .valid = step.valid};
}

void Reporter::event(RunEvent const& event) {
  if (m_file && event.event == "resume") m_done_before = m_file->furthest_step();
  if (m_file) m_file->append(to_json(event, std::time(nullptr)));
  // Steps behind a checkpoint are done once more.
  if (m_events && event.event == "resume") m_events->start(event.step + 1);
}

void Reporter::step(Step const& step) {
  add(m_lanes, step.result.lanes);
  m_step_s.push_back(step.result.step_s);
  if (step.done <= m_done_before) {
    ++m_done_again.steps;
    m_done_again.seconds += step.result.step_s;
  }
  m_loss.add(step.done, {step.result.loss_sum, step.result.weight_sum});
  if (step.valid) m_valid_loss.add(step.done, *step.valid);
  ++m_steps_reported;
  // If a step is faster than its matrix products alone should be, other processes were busy when
  // the rate of products was measured, so the rate of the step replaces it.
  if (m_matmul_flops_per_s > 0)
    m_matmul_flops_per_s = std::max(m_matmul_flops_per_s, m_step_flops / step.result.step_s);
  if (!m_file) return;
  m_run_dir->require_ours();
  m_slow_ranks.add_step(step.result.step_s, step.result.waits);
  bool const logged = is_logged(step);
  auto row = metrics(step);
  auto const look = logged ? m_slow_ranks.look() : SlowRankWatch::Look{};
  row.slow_rank = look.slow;
  if (logged) m_file->append(to_json(row));
  if (logged && m_events) m_events->append(row);
  m_progress.show(row, step.clock, logged);
  if (look.change) tell(*look.change, step.done);
}

bool Reporter::is_logged(Step const& step) const {
  return m_steps_reported == 1 || step.done % m_config.run.log_every == 0 ||
         step.done == m_config.run.steps || step.valid.has_value();
}

void Reporter::tell(SlowRankWatch::Change const& change, std::int64_t step) {
  auto const tell_event = [&](char const* name, int rank, std::string why) {
    RunEvent told{name, step, {{"why", std::move(why)}}};
    told.rank = rank;
    event(told);
  };
  if (change.before >= 0)
    tell_event("slow-rank-over", change.before, rank_words(change.before, m_hosts));
  if (change.now < 0) return;
  auto const who = rank_words(change.now, m_hosts), waits = wait_words(change);
  tell_event("slow-rank", change.now, who + ": " + waits);
  log_warning("{} is slow: {}; docs/runs.md, \"Ranks that are not equally fast\", says what to do",
              who, waits);
}

void Reporter::saved(std::string const& checkpoint, double seconds) {
  if (m_file) say(fmt::format("saved {} in {}", checkpoint, human_duration(seconds)));
}

double Reporter::median_step_s() const {
  if (m_step_s.empty()) return 0;
  return median({m_step_s.begin() + (m_step_s.size() > 1 ? 1 : 0), m_step_s.end()});
}

}  // namespace spillway
