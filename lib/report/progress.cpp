#include "report/progress.hpp"

#include <fmt/core.h>

#include <vector>

#include "base/standard_streams.hpp"
#include "base/units.hpp"
#include "base/wrapped.hpp"

namespace spillway {
namespace {

// Joins those fields that are not empty.
std::string joined(std::vector<std::string> const& fields) {
  std::string line;
  for (auto const& field : fields)
    if (!field.empty()) line += (line.empty() ? "" : "  ") + field;
  return line;
}

}  // namespace

std::string loss_text(LossSums const& loss) {
  auto const mean = loss.mean();
  return mean ? fmt::format("{:.4f}", *mean) : "none";
}

std::string progress_line(StepMetrics const& row, std::int64_t steps, double left_s) {
  // Steps and norms are as wide in all lines, so that what follows stands in columns.
  auto const all = std::to_string(steps);
  auto const step =
      fmt::format("step {:<{}}", fmt::format("{}/{}", row.step, all), 2 * all.size() + 1);
  auto const loss = "loss " + loss_text(row.loss);
  auto const lr = fmt::format("lr {:.2e}", row.lr);
  auto const norm = fmt::format("norm {:<5}", human_number(row.grad_norm, 3));
  auto const rate = fmt::format("{:.0f} tok/s", row.tokens_per_s);
  auto const mfu = row.mfu ? fmt::format("MFU {:.0f} %", 100 * *row.mfu) : "";
  // Most times are at most as wide as this, so that lines do not differ in what they leave out.
  auto const left = fmt::format("ETA {:<6}", human_duration(left_s));
  for (auto const& fields : {std::vector{step, loss, lr, norm, rate, mfu, left},
                             std::vector{step, loss, norm, rate, mfu, left},
                             std::vector{step, loss, norm, rate, left}}) {
    auto const line = joined(fields);
    if (line.size() <= kPageColumns) return std::string(without_trailing_blanks(line));
  }
  return std::string(without_trailing_blanks(joined({step, loss, rate, left})));
}

std::string valid_line(StepMetrics const& row) {
  if (!row.valid) return "";
  return fmt::format("valid {} at step {}", loss_text(*row.valid), row.step);
}

void Progress::show(StepMetrics const& row, RunClock const& clock, bool logged) {
  constexpr double between_s = 0.1;  // nobody reads faster, and a step may take less
  if (logged) say(progress_line(row, m_steps, clock.left_s));
  if (logged && row.valid) say(valid_line(row));
  if (!m_where.terminal) return;
  if (!logged && m_drawn_at_s && clock.elapsed_s < *m_drawn_at_s + between_s) return;
  auto const room = m_where.columns > 0 ? m_where.columns - 1 : room_for_live_line();
  say_live(live_line(row, m_steps, clock, room));
  m_drawn_at_s = clock.elapsed_s;
}

}  // namespace spillway
