// What a run reports: one JSON object a logged step, and a summary at the end.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "plan/plan.hpp"
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

// Appends to metrics.jsonl; every row is flushed. A row that cannot be written is said once and
// does not end the run.
class MetricsFile {
 public:
  explicit MetricsFile(std::filesystem::path const& path);
  void append(StepMetrics const& row);

 private:
  std::ofstream m_file;
  bool m_complained = false;
};

}  // namespace spillway
