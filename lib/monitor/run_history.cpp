#include "monitor/run_history.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/median.hpp"

namespace spillway {

void RunHistory::add(std::string_view line) {
  auto row = parse_metrics_row(line);
  bool const is_blank = line.find_first_not_of(" \t\r") == line.npos;
  if (!row) m_unread_lines += is_blank ? 0 : 1;
  if (row) std::visit([this](auto& one) { take(std::move(one)); }, *row);
}

// Returns how many steps are undone.
std::int64_t RunHistory::go_back_to(std::int64_t step) {
  auto const undone = m_rows.forget_after(step);
  if (m_last && m_last->step > step) m_last.reset();
  m_first_of_plan = m_rows.steps.size();
  return undone;
}

void RunHistory::take(EventRow row) {
  if (row.event == "start" || row.event == "resume") {
    row.done_again = go_back_to(row.step);
    m_jobs.push_back({row, {}, row.step, 0});
  } else if (row.event == "end" && !m_jobs.empty()) {
    m_jobs.back().end = row;
    m_jobs.back().last_step = row.step;
  } else if (row.event == "replan") {
    if (!m_jobs.empty()) ++m_jobs.back().replans;
    m_first_of_plan = m_rows.steps.size();
  }
  bool const is_of_ranks = row.event == "slow-rank" || row.event == "slow-rank-over";
  if (row.event != "replan") m_slow_rank.reset();
  if (row.event == "slow-rank") m_slow_rank = row;
  if (!is_of_ranks && row.event != "end") m_predicted_step_s = row.predicted_step_s;
  m_events.push_back(std::move(row));
}

void RunHistory::take(StepRow row) {
  m_rows.add(row.step, row.metrics);
  m_first_of_plan = std::min(m_first_of_plan, m_rows.steps.size() - 1);
  if (!m_jobs.empty()) m_jobs.back().last_step = row.step;
  m_last = std::move(row);
}

double RunHistory::recent(Metric metric) const {
  constexpr std::size_t most = 20;
  auto const& all = m_rows.of(metric);
  auto const rows = all.size() - m_first_of_plan;
  auto const counted = std::min(rows > 1 ? rows - 1 : rows, most);
  std::vector<double> values(all.end() - static_cast<std::ptrdiff_t>(counted), all.end());
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  return values.empty() ? 0 : median(std::move(values));
}

}  // namespace spillway
