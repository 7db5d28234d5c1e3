// A RunHistory keeps what the rows of a run's metrics.jsonl say, over all of its jobs.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "monitor/metrics_row.hpp"

namespace spillway {

struct LossPoint {
  std::int64_t step = 0;
  double loss = 0;
};

// A JobRecord is what one job did: from a start or a resume to its end, if it has told one.
struct JobRecord {
  EventRow begin;
  std::optional<EventRow> end = {};
  std::int64_t last_step = 0;  // the last step that it logged, or at which it began
  int replans = 0;
};

class RunHistory {
 public:
  // Takes in a line of metrics.jsonl; one that is no row is left out. A job that goes on from a
  // step makes what came behind that step undone.
  void add(std::string_view line);

  std::vector<LossPoint> const& losses() const { return m_losses; }
  std::vector<LossPoint> const& valid_losses() const { return m_valid_losses; }
  std::vector<JobRecord> const& jobs() const { return m_jobs; }
  std::vector<EventRow> const& events() const { return m_events; }
  std::optional<StepRow> const& last() const { return m_last; }
  // Returns the median of the last rows' steps, in seconds, or 0 if there is none.
  double recent_step_s() const;
  double recent_tokens_per_s() const;
  // Returns what the plan that is followed now predicts, or nothing if no row has told it.
  std::optional<double> predicted_step_s() const { return m_predicted_step_s; }

 private:
  void take(StepRow row);
  void take(EventRow row);
  void go_back_to(std::int64_t step);

  std::vector<LossPoint> m_losses, m_valid_losses;
  std::vector<JobRecord> m_jobs;
  std::vector<EventRow> m_events;
  std::optional<StepRow> m_last;
  struct Speed {
    double step_s, tokens_per_s;
  };
  std::deque<Speed> m_recent;  // of the job's last rows
  std::optional<double> m_predicted_step_s;
};

// Returns the point with the least loss, or null if there is none.
LossPoint const* least_of(std::vector<LossPoint> const& points);

}  // namespace spillway
