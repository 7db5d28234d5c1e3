// Defines metrics.jsonl, which has a JSON object for each logged step and each event of a run.
#pragma once

#include <cstdint>
#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/file/file.hpp"
#include "plan/data/plan.hpp"
#include "report/loss_sums.hpp"
#include "report/slow_rank.hpp"
#include "runtime/step_result.hpp"

namespace spillway {

// StepMetrics are a row of metrics.jsonl about a step. `lanes` are those of this rank. If a step
// has no targets, its loss becomes null.
struct StepMetrics {
  std::int64_t step = 0;    // how many steps are done
  std::int64_t tokens = 0;  // how many tokens of text were trained on since the run began
  LossSums loss;
  double grad_norm = 0, lr = 0, step_s = 0, tokens_per_s = 0;
  // `mfu` is the model's flops per second as a share of the peak in the device's data sheet, and
  // `matmul_share` as a share of the rate that large matrix products reach on this machine, in the
  // run's precision. A share is empty, and null in the row, if the peak or the rate is not known.
  std::optional<double> mfu, matmul_share;
  double matmul_gflops = 0;  // the rate that `matmul_share` is a share of
  TierBytes peak_bytes{};
  LaneReport lanes;
  std::optional<SlowRank> slow_rank = {};  // what it made the others wait in each step, as a mean
  std::optional<LossSums> valid;
};
std::string to_json(StepMetrics const& row);

// A RunEvent is a row of metrics.jsonl that marks a "start", a "resume", a "replan", a "slow-rank",
// a "slow-rank-over" or an "end" after `step` steps. Rows behind a resume may repeat steps of rows
// before the resume. A job that is killed tells no end, nor does one whose rank 0 another rank has
// ended.
struct RunEvent {
  std::string event;
  std::int64_t step = 0;
  std::vector<std::pair<std::string, std::string>> more = {};  // more fields of the row
  std::vector<std::string> changed = {};                       // input keys that a resume changed
  std::optional<double> predicted_step_s = {};                 // by the plan that begins here
  std::optional<int> exit = {};                                // the exit status, of an end
  std::optional<int> rank = {};                                // that is slow, or no longer
};
// The row has `time` in UTC, as in "2026-01-31T09:05:00Z".
std::string to_json(RunEvent const& row, std::time_t time);

// Returns the exact bits of a number as text (C99 %a).
std::string hex(double value);

// A MetricsFile appends rows to metrics.jsonl. If a row cannot be written whole, what was written
// of it is removed; this is logged once and does not end the run, and later rows are tried. The
// constructor removes a partial last row that an earlier run has left. If the file is removed or
// replaced, rows go on in a new one. The constructor throws Error(bad_input) if the file cannot be
// opened.
class MetricsFile {
 public:
  explicit MetricsFile(std::filesystem::path path);
  ~MetricsFile();
  MetricsFile(MetricsFile const&) = delete;
  MetricsFile& operator=(MetricsFile const&) = delete;
  void append(std::string const& row);  // `row` is a JSON object

  // Returns the last step of which any of the last rows tells, or 0 if there is none.
  std::int64_t furthest_step() const;

 private:
  int reopen_if_gone();
  int append_line(std::string_view line);
  int open_there();

  std::filesystem::path m_path;
  FileDescriptor m_file;
  std::int64_t m_lost = 0;         // rows lost since the last one that was written
  bool m_may_end_in_part = false;  // true if the last row may lack its end
};

}  // namespace spillway
