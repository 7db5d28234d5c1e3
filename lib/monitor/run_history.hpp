// A RunHistory keeps what the rows of a run's metrics.jsonl say, over all of its jobs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "monitor/metric_rows.hpp"
#include "monitor/metrics_row.hpp"

namespace spillway {

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
  // step makes what came behind that step undone. Of rows of the same step the later one holds.
  void add(std::string_view line);

  MetricRows const& rows() const { return m_rows; }  // of the steps that are not undone
  std::vector<LossPoint> losses() const { return m_rows.points(Metric::loss); }
  std::vector<LossPoint> valid_losses() const { return m_rows.points(Metric::valid_loss); }
  std::vector<JobRecord> const& jobs() const { return m_jobs; }
  std::vector<EventRow> const& events() const { return m_events; }
  // Returns the event of the rank that is slow since then, or nothing if none is in the last job.
  std::optional<EventRow> const& slow_rank() const { return m_slow_rank; }
  std::optional<StepRow> const& last() const { return m_last; }
  // Returns the median of the metric in the last rows of the plan that is followed now, or 0 if
  // there is none. The first row of a plan counts only if it is the only one.
  double recent(Metric metric) const;
  double recent_step_s() const { return recent(Metric::step_s); }
  double recent_tokens_per_s() const { return recent(Metric::tokens_per_s); }
  // Returns what the plan that is followed now predicts, or nothing if no row has told it.
  std::optional<double> predicted_step_s() const { return m_predicted_step_s; }
  // Returns how many lines were no row, as where a disk was full.
  std::int64_t unread_lines() const { return m_unread_lines; }

 private:
  void take(StepRow row);
  void take(EventRow row);
  std::int64_t go_back_to(std::int64_t step);

  MetricRows m_rows;
  std::size_t m_first_of_plan = 0;  // a place in m_rows
  std::vector<JobRecord> m_jobs;
  std::vector<EventRow> m_events;
  std::optional<StepRow> m_last;
  std::optional<EventRow> m_slow_rank;
  std::optional<double> m_predicted_step_s;
  std::int64_t m_unread_lines = 0;
};

}  // namespace spillway
