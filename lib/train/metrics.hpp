// What a run reports: one JSON object a logged step, and a summary at the end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "io/file/file.hpp"
#include "plan/data/plan.hpp"
#include "runtime/step_result.hpp"

namespace spillway {

// One row of metrics.jsonl; `lanes` are this rank's, of the step.
struct StepMetrics {
  std::int64_t step = 0;    // steps done
  std::int64_t tokens = 0;  // tokens with weight, since the beginning of the run
  double loss = 0, grad_norm = 0, lr = 0, step_s = 0, tokens_per_s = 0, mfu = 0;
  TierBytes peak_bytes{};
  LaneReport lanes;
  std::optional<double> valid_loss;
};
std::string to_json(StepMetrics const& row);

// The exact bits of a number as text (C99 %a).
std::string hex(double value);

// Appends to metrics.jsonl, a row with one write. A row that cannot be written whole is cut off
// again and lost, which is said once and does not end the run; the next is tried. What an earlier
// run left of its last row is removed. Throws Error(bad_input) when the file cannot be opened.
class MetricsFile {
 public:
  explicit MetricsFile(std::filesystem::path const& path);
  ~MetricsFile();
  MetricsFile(MetricsFile const&) = delete;
  MetricsFile& operator=(MetricsFile const&) = delete;
  void append(StepMetrics const& row);

 private:
  int append_line(std::string_view line);

  FileDescriptor m_file;
  std::int64_t m_lost = 0;  // rows, since the last one that was written
  bool m_glued = false;     // something is left that could not be cut off
};

}  // namespace spillway
