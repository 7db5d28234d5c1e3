// Reports the progress of a run on rank 0, and collects numbers for the summary on every rank.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/config.hpp"
#include "job/run_dir.hpp"
#include "plan/data/machine.hpp"
#include "report/loss_record.hpp"
#include "report/metrics.hpp"
#include "report/progress.hpp"
#include "report/slow_rank.hpp"
#include "report/tensorboard.hpp"
#include "runtime/step_result.hpp"

namespace spillway {

class Reporter {
 public:
  // `run_dir` is null on ranks that write no files. `step_flops` counts the model's flops for the
  // sequences of one step, as a mean over ranks. `hosts` are those of all ranks, by rank.
  Reporter(Config const& config, Machine const& machine, double step_flops, RunDir const* run_dir,
           std::vector<std::string> hosts = {});

  struct Step {
    std::int64_t done = 0;    // how many steps are done, this one included
    std::int64_t tokens = 0;  // how many tokens of text were trained on since the run began
    std::int64_t step_tokens = 0;
    StepResult const& result;
    TierBytes in_use{};
    std::optional<LossSums> valid;
    RunClock clock = {};
  };
  void event(RunEvent const& event);
  // Reports a step. Throws Error(bad_input) if another job has taken over run.dir.
  void step(Step const& step);

  // Says that a checkpoint has been written.
  void saved(std::string const& checkpoint, double seconds);

  // Returns the median time of the steps since the plan changed, in seconds, or 0 if there are
  // none. The first step of a plan counts only if it is the only one.
  double median_step_s() const;
  void change_plan() { m_step_s.clear(); }
  LaneReport const& lanes() const { return m_lanes; }  // sums over the steps so far
  // Returns how many of the steps so far an earlier job had done and lost, as far as the rows of
  // metrics.jsonl tell, and what they took now.
  struct DoneAgain {
    std::int64_t steps = 0;
    double seconds = 0;
  };
  DoneAgain const& done_again() const { return m_done_again; }
  LossRecord const& loss() const { return m_loss; }
  LossRecord const& valid_loss() const { return m_valid_loss; }

 private:
  StepMetrics metrics(Step const& step) const;
  bool is_logged(Step const& step) const;
  void tell(SlowRankWatch::Change const& change, std::int64_t step);

  Config const& m_config;
  double m_step_flops, m_peak_flops_per_s, m_matmul_flops_per_s;  // each is 0 if unknown
  RunDir const* m_run_dir;
  std::vector<std::string> m_hosts;
  SlowRankWatch m_slow_ranks;
  std::optional<MetricsFile> m_file;
  std::optional<EventFile> m_events;  // present if run.log.tensorboard is true
  Progress m_progress;
  std::vector<double> m_step_s;
  LaneReport m_lanes;
  LossRecord m_loss, m_valid_loss;
  std::int64_t m_steps_reported = 0;
  std::int64_t m_done_before = 0;  // the last step that an earlier job had done
  DoneAgain m_done_again;
};

}  // namespace spillway
