#include "report/progress.hpp"

#include <fmt/core.h>

#include "base/standard_streams.hpp"
#include "base/units.hpp"

namespace spillway {
std::string loss_text(LossSums const& loss) {
  auto const mean = loss.mean();
  return mean ? fmt::format("{:.4f}", *mean) : "none";
}

std::string progress_line(StepMetrics const& row, std::int64_t steps, double left_s) {
  auto line = fmt::format("step {}/{}  loss {}", row.step, steps, loss_text(row.loss));
  if (row.valid) line += "  valid " + loss_text(*row.valid);
  line += fmt::format("  lr {:.3g}  norm {:.3g}", row.lr, row.grad_norm);
  line += fmt::format("  {:.0f} tok/s", row.tokens_per_s);
  if (row.mfu) {
    line += fmt::format("  MFU {:.0f} %", 100 * *row.mfu);
  } else if (row.matmul_share) {
    line += fmt::format("  {:.0f} % of matmul", 100 * *row.matmul_share);
  }
  line += "  ETA " + human_duration(left_s);
  for (Tier const tier : kTiersInOrder) {
    auto const bytes = row.peak_bytes[index(tier)];
    if (bytes > 0) line += fmt::format("  {} {}", name(tier), human_bytes(bytes));
  }
  return line;
}

void Progress::show(StepMetrics const& row, RunClock const& clock, bool logged) {
  constexpr double between_s = 0.1;  // nobody reads faster, and a step may take less
  if (logged) say(progress_line(row, m_steps, clock.left_s));
  if (!m_where.terminal) return;
  if (!logged && m_drawn_at_s && clock.elapsed_s < *m_drawn_at_s + between_s) return;
  auto const room = m_where.columns > 0 ? m_where.columns - 1 : room_for_live_line();
  say_live(live_line(row, m_steps, clock, room));
  m_drawn_at_s = clock.elapsed_s;
}

}  // namespace spillway
