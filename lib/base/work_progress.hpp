// A WorkProgress tells a person how far a command has come: on one live line of a terminal, or in a
// log by a line now and then.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/steady_clock.hpp"

namespace spillway {

struct Work {
  std::string what;        // such as "tokenize"
  std::string units;       // such as "batches"; "bytes" are shown as KiB, MiB, ..
  std::int64_t total = 0;  // how many units there are; 0 if that shows only at the end
};

// Returns a line such as "eval: 8 of 78 batches, 3.1 batches/s, 22.6 s left, loss 3.21", or "plan:
// 8 plans, 0.2 plans/s, batch.micro=32" of work whose end is not known. `more` may be empty.
std::string work_line(Work const& work, std::int64_t done, double elapsed_s,
                      std::string_view more = {});

// A WorkPace decides when the next line is due. A log begins only when a command takes long.
class WorkPace {
 public:
  explicit WorkPace(bool terminal)
      : m_every_s(terminal ? 0.2 : 30), m_next_s(terminal ? 0 : m_every_s) {}
  bool is_due(double now_s);

 private:
  double m_every_s, m_next_s;
};

class WorkProgress {
 public:
  // `speaks` is false on ranks that say nothing.
  explicit WorkProgress(Work work, bool speaks = true);
  // Removes the live line, since what the command has to say follows.
  ~WorkProgress();
  WorkProgress(WorkProgress const&) = delete;
  WorkProgress& operator=(WorkProgress const&) = delete;

  // Says that there are so many units, where it was not known before.
  void expect(std::int64_t total) { m_work.total = total; }
  void at(std::int64_t done, std::string_view more = {});
  void add(std::int64_t units) { at(m_done + units); }
  // Removes the live line, so that a message can follow on a line of its own. The next number is
  // shown at once.
  void clear();

 private:
  Work m_work;
  bool m_speaks, m_terminal, m_is_live = false;
  std::int64_t m_done = 0;
  WorkPace m_pace;
  SteadyClock::time_point m_begin;
};

}  // namespace spillway
