#include "monitor/run_follower.hpp"

#include <algorithm>
#include <utility>

#include "base/unix_time.hpp"

namespace spillway {

RunFollower::RunFollower(std::filesystem::path run_dir)
    : m_metrics(run_dir / "metrics.jsonl"), m_run{.dir = std::move(run_dir)} {
  read_texts(m_run);
}

void RunFollower::look() {
  bool const is_new = read_news(m_metrics, m_run.history);
  auto const events = m_run.history.events().size();
  if (events != m_events_read || !m_run.config) read_texts(m_run);
  m_events_read = events;
  m_run.written_at_s = m_metrics.written_at_s();
  m_run.at_work = at_work(m_run.dir);
  if (m_has_looked && !is_new) return;
  auto const since_s = unix_time_s() - m_run.written_at_s;
  m_silent_before_s = m_has_looked || m_run.written_at_s == 0 ? 0 : std::max(0.0, since_s);
  m_news_at = SteadyClock::now();
  m_has_looked = true;
}

double RunFollower::silent_s() const {
  return m_silent_before_s + seconds_since(m_news_at);
}

}  // namespace spillway
