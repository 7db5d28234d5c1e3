#include "report/live_line.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "base/units.hpp"

namespace spillway {
namespace {

// The field of worth 1 matters most. A line has fields in the order of their worth, as many as fit.
struct Field {
  int worth;
  std::string text;
  bool shown = false;
};
constexpr int kBarsWorth = 5;
constexpr std::string_view kBetween = " ";
constexpr std::size_t kShortestBar = 8, kLongestBar = 26;

std::string bar_text(double share, std::size_t columns) {
  auto const inside = columns - 2;
  auto const full = static_cast<std::size_t>(share * static_cast<double>(inside));
  return "[" + std::string(full, '#') + std::string(inside - full, '.') + "]";
}

std::string loss_of(LossSums const& sums) {
  auto const mean = sums.mean();
  return mean ? fmt::format("loss {:.3f}", *mean) : "loss none";
}

}  // namespace

std::string live_line(StepMetrics const& row, std::int64_t steps, RunClock const& clock,
                      std::size_t columns) {
  auto const done = static_cast<double>(row.step), all = static_cast<double>(steps);
  auto const share = all > 0 ? std::clamp(done / all, 0.0, 1.0) : 1;
  std::array<Field, 9> fields = {{{4, fmt::format("{:3} %", static_cast<int>(100 * share))},
                                  {kBarsWorth, bar_text(share, kShortestBar)},
                                  {1, fmt::format("{}/{}", row.step, steps)},
                                  {2, loss_of(row.loss)},
                                  {8, fmt::format("lr {:.3g}", row.lr)},
                                  {7, fmt::format("norm {:.3g}", row.grad_norm)},
                                  {6, fmt::format("{:.0f} tok/s", row.tokens_per_s)},
                                  {9, "up " + human_duration(clock.elapsed_s)},
                                  {3, "left " + human_duration(clock.left_s)}}};
  std::size_t used = 0;
  for (int worth = 1; worth <= static_cast<int>(fields.size()); ++worth) {
    auto& field = *std::ranges::find(fields, worth, &Field::worth);
    auto const more = field.text.size() + (used > 0 ? kBetween.size() : 0);
    field.shown = used + more <= columns;
    used += field.shown ? more : 0;
  }
  auto const longer = std::min(columns - used, kLongestBar - kShortestBar);
  std::string line;
  for (auto const& field : fields) {
    if (!field.shown) continue;
    line.append(line.empty() ? "" : kBetween);
    line += field.worth == kBarsWorth ? bar_text(share, kShortestBar + longer) : field.text;
  }
  return line;
}

}  // namespace spillway
