#include "report/live_line.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "base/units.hpp"

namespace spillway {
namespace {

// The field of worth 1 matters most. A line has fields in their order, as many as fit. Values are
// as wide in one line as in the next, so that they stay in their places.
struct Field {
  int worth;
  std::string text;
  bool shown = false;
};
constexpr int kBarsWorth = 9;
constexpr std::string_view kBetween = " ";
constexpr std::size_t kShortestBar = 8, kLongestBar = 26;

std::string bar_text(double share, std::size_t columns) {
  auto const inside = columns - 2;
  auto const full = static_cast<std::size_t>(share * static_cast<double>(inside));
  return "[" + std::string(full, '#') + std::string(inside - full, '.') + "]";
}

std::string loss_of(LossSums const& sums) {
  auto const mean = sums.mean();
  return mean ? fmt::format("loss {:6.3f}", *mean) : "loss   none";
}

std::string step_of(std::int64_t step, std::int64_t steps) {
  auto const all = std::to_string(steps);
  return fmt::format("{:>{}}/{}", step, all.size(), all);
}

std::vector<Field> fields_of(StepMetrics const& row, std::int64_t steps, RunClock const& clock,
                             double share) {
  std::vector<Field> fields = {{4, fmt::format("{:3} %", static_cast<int>(100 * share))},
                               {kBarsWorth, bar_text(share, kShortestBar)},
                               {1, step_of(row.step, steps)},
                               {2, loss_of(row.loss)},
                               {8, fmt::format("lr {:.2e}", row.lr)},
                               {6, fmt::format("norm {:>7}", human_number(row.grad_norm, 3))},
                               {5, fmt::format("{:6.0f} tok/s", row.tokens_per_s)},
                               {7, row.mfu ? fmt::format("MFU {:2.0f} %", 100 * *row.mfu) : ""},
                               {10, fmt::format("up {:>7}", human_duration(clock.elapsed_s))},
                               {3, fmt::format("left {:>7}", human_duration(clock.left_s))}};
  for (int worth = 11; Tier const tier : kTiersInOrder)
    if (auto const bytes = row.peak_bytes[tier]; bytes > 0)
      fields.push_back({worth++, fmt::format("{} {:>8}", name(tier), human_bytes(bytes))});
  std::erase_if(fields, [](Field const& field) { return field.text.empty(); });
  return fields;
}

}  // namespace

std::string live_line(StepMetrics const& row, std::int64_t steps, RunClock const& clock,
                      std::size_t columns) {
  auto const done = static_cast<double>(row.step), all = static_cast<double>(steps);
  auto const share = all > 0 ? std::clamp(done / all, 0.0, 1.0) : 1;
  auto fields = fields_of(row, steps, clock, share);
  std::vector<Field*> by_worth;
  for (auto& field : fields) by_worth.push_back(&field);
  std::ranges::sort(by_worth, {}, &Field::worth);
  std::size_t used = 0;
  for (auto* field : by_worth) {
    auto const more = field->text.size() + (used > 0 ? kBetween.size() : 0);
    field->shown = used + more <= columns;
    used += field->shown ? more : 0;
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
