// Defines what a run reports: one JSON object for each logged step, and a summary at the end.
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
#include "runtime/step_result.hpp"

namespace spillway {

// Is one row of metrics.jsonl; `lanes` are those of this rank in this step. A loss of no targets is
// null there.
struct StepMetrics {
  std::int64_t step = 0;    // steps done
  std::int64_t tokens = 0;  // of the text, since the beginning of the run
  LossSums loss;
  double grad_norm = 0, lr = 0, step_s = 0, tokens_per_s = 0;
  // The model's flops per second as shares of the peak of the device's data sheet, and of the rate
  // that large products have reached here, both in the run's precision. A share of what nobody
  // knows is empty, and null in metrics.jsonl.
  std::optional<double> mfu, matmul_share;
  double matmul_gflops = 0;  // the rate that `matmul_share` is of
  TierBytes peak_bytes{};
  LaneReport lanes;
  std::optional<LossSums> valid;
};
std::string to_json(StepMetrics const& row);

// Is a row of metrics.jsonl that marks where steps begin or change: "start", "resume" or "replan",
// after `step` steps. Rows behind it may have steps that rows before it have, too.
struct RunEvent {
  std::string event;
  std::int64_t step = 0;
  std::vector<std::pair<std::string, std::string>> more = {};  // of this kind of event
  std::vector<std::string> changed = {};                       // keys that a resume gives otherwise
};
// With the time in UTC, as in "2026-01-31T09:05:00Z".
std::string to_json(RunEvent const& row, std::time_t time);

// Returns the exact bits of a number as text (C99 %a).
std::string hex(double value);

// Appends rows to metrics.jsonl, each with one write. A row that cannot be written whole is removed
// and lost; this is logged once and does not end the run, and the next row is tried. Removes a
// partial last row of an earlier run. Goes on in a new file where somebody has removed or replaced
// this one. Throws Error(bad_input) when the file cannot be opened.
class MetricsFile {
 public:
  explicit MetricsFile(std::filesystem::path path);
  ~MetricsFile();
  MetricsFile(MetricsFile const&) = delete;
  MetricsFile& operator=(MetricsFile const&) = delete;
  void append(std::string const& row);  // a JSON object

 private:
  int reopen_if_gone();
  int append_line(std::string_view line);
  int open_there();

  std::filesystem::path m_path;
  FileDescriptor m_file;
  std::int64_t m_lost = 0;  // rows lost since the last one that was written
  bool m_glued = false;     // a partial row may be there that could not be removed
};

}  // namespace spillway
