// A RunFollower keeps a RunRecord of a run that goes on up to date.
#pragma once

#include <filesystem>

#include "base/steady_clock.hpp"
#include "monitor/followed_file.hpp"
#include "monitor/run_record.hpp"

namespace spillway {

class RunFollower {
 public:
  explicit RunFollower(std::filesystem::path run_dir);

  // Looks at the directory. Of metrics.jsonl only what is new is read; other files are read again
  // when rows of an event have come.
  void look();
  RunRecord const& run() const { return m_run; }
  // Returns for how long no row has come, in seconds. The file's time counts for the first look
  // alone, since clocks of machines differ.
  double silent_s() const;

 private:
  FollowedFile m_metrics;
  RunRecord m_run;
  std::size_t m_events_read = 0;
  double m_silent_before_s = 0;
  SteadyClock::time_point m_news_at;
  bool m_has_looked = false;
};

}  // namespace spillway
