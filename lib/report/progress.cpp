#include "report/progress.hpp"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <string_view>

#include "base/standard_streams.hpp"
#include "base/units.hpp"

namespace spillway {
namespace {

// Returns the width of the terminal. A longer line would wrap, and redrawing it would leave its
// first row on the screen.
std::size_t terminal_columns() {
  winsize window{};
  bool const known = ::ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
  return known ? window.ws_col : std::string::npos;
}

}  // namespace

std::string loss_text(LossSums const& loss) {
  auto const mean = loss.mean();
  return mean ? fmt::format("{:.4f}", *mean) : "none";
}

std::string progress_line(StepMetrics const& row, std::int64_t steps, double mean_step_s) {
  auto const left_s = static_cast<double>(steps - row.step) * mean_step_s;
  auto line = fmt::format("step {}/{}  loss {}", row.step, steps, loss_text(row.loss));
  if (row.valid) line += "  valid " + loss_text(*row.valid);
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

void Progress::show(StepMetrics const& row, bool logged) {
  m_mean_step_s = m_mean_step_s == 0 ? row.step_s : 0.9 * m_mean_step_s + 0.1 * row.step_s;
  if (!m_terminal && !logged) return;
  auto const line = progress_line(row, m_steps, m_mean_step_s);
  if (!m_terminal) {
    say(line);
    return;
  }
  say_live(std::string_view(line).substr(0, terminal_columns()));
  m_line_open = true;
  if (row.valid) break_line();
}

void Progress::break_line() {
  if (m_line_open) say("");
  m_line_open = false;
}

}  // namespace spillway
