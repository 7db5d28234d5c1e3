#include "base/work_progress.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <utility>

#include "base/standard_streams.hpp"
#include "base/units.hpp"

namespace spillway {
namespace {

std::string amount(Work const& work, double units) {
  if (work.units == "bytes") return human_bytes(static_cast<std::int64_t>(units));
  return human_number(units, 3);
}

}  // namespace

std::string work_line(Work const& work, std::int64_t done, double elapsed_s,
                      std::string_view more) {
  bool const in_bytes = work.units == "bytes";
  auto const units = in_bytes ? "" : " " + work.units;
  auto const of = [&](std::int64_t number) {
    return in_bytes ? human_bytes(number) : std::to_string(number);
  };
  bool const ends = work.total > 0;
  auto const whole = ends ? " of " + of(work.total) : "";
  auto line = fmt::format("{}: {}{}{}", work.what, of(done), whole, units);
  if (done > 0 && elapsed_s > 0) {
    auto const rate = static_cast<double>(done) / elapsed_s;
    auto const left_s = static_cast<double>(work.total - done) / rate;
    line += fmt::format(", {}{}/s", amount(work, rate), units);
    if (ends) line += fmt::format(", {} left", human_duration(left_s));
  }
  return more.empty() ? line : fmt::format("{}, {}", line, more);
}

bool WorkPace::is_due(double now_s) {
  if (now_s < m_next_s) return false;
  m_next_s = now_s + m_every_s;
  return true;
}

WorkProgress::WorkProgress(Work work, bool speaks)
    : m_work(std::move(work)),
      m_speaks(speaks),
      m_terminal(::isatty(STDERR_FILENO) != 0),
      m_pace(m_terminal),
      m_begin(SteadyClock::now()) {}

WorkProgress::~WorkProgress() {
  clear();
}

void WorkProgress::at(std::int64_t done, std::string_view more) {
  m_done = done;
  auto const now_s = seconds_since(m_begin);
  if (!m_speaks || !m_pace.is_due(now_s)) return;
  auto const line = work_line(m_work, done, now_s, more);
  if (!m_terminal) return say(line);
  say_live(std::string_view(line).substr(0, room_for_live_line()));
  m_is_live = true;
}

void WorkProgress::clear() {
  if (!std::exchange(m_is_live, false)) return;
  say_live("");
  m_pace = WorkPace(m_terminal);
}

}  // namespace spillway
