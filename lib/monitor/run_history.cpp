#include "monitor/run_history.hpp"

#include <algorithm>
#include <utility>

#include "base/median.hpp"

namespace spillway {
namespace {

constexpr std::size_t kRecentRows = 20;

template <class Speeds, class Member>
double median_of(Speeds const& recent, Member const& member) {
  if (recent.empty()) return 0;
  std::vector<double> values;
  for (auto const& row : recent) values.push_back(row.*member);
  return median(std::move(values));
}

}  // namespace

void RunHistory::add(std::string_view line) {
  auto row = parse_metrics_row(line);
  if (row) std::visit([this](auto& one) { take(std::move(one)); }, *row);
}

void RunHistory::go_back_to(std::int64_t step) {
  auto const is_undone = [step](LossPoint const& point) { return point.step > step; };
  std::erase_if(m_losses, is_undone);
  std::erase_if(m_valid_losses, is_undone);
  if (m_last && m_last->step > step) m_last.reset();
  m_recent.clear();
}

void RunHistory::take(EventRow row) {
  if (row.event == "start" || row.event == "resume") {
    go_back_to(row.step);
    m_jobs.push_back({row, {}, row.step, 0});
  } else if (row.event == "end" && !m_jobs.empty()) {
    m_jobs.back().end = row;
    m_jobs.back().last_step = row.step;
  } else if (row.event == "replan") {
    if (!m_jobs.empty()) ++m_jobs.back().replans;
    m_recent.clear();
  }
  if (row.event != "end") m_predicted_step_s = row.predicted_step_s;
  m_events.push_back(std::move(row));
}

void RunHistory::take(StepRow row) {
  if (row.loss) m_losses.push_back({row.step, *row.loss});
  if (row.valid_loss) m_valid_losses.push_back({row.step, *row.valid_loss});
  if (!m_jobs.empty()) m_jobs.back().last_step = row.step;
  m_recent.push_back({row.step_s, row.tokens_per_s});
  if (m_recent.size() > kRecentRows) m_recent.pop_front();
  m_last = std::move(row);
}

double RunHistory::recent_step_s() const {
  return median_of(m_recent, &Speed::step_s);
}

double RunHistory::recent_tokens_per_s() const {
  return median_of(m_recent, &Speed::tokens_per_s);
}

LossPoint const* least_of(std::vector<LossPoint> const& points) {
  auto const least = std::ranges::min_element(points, {}, &LossPoint::loss);
  return least == points.end() ? nullptr : &*least;
}

}  // namespace spillway
